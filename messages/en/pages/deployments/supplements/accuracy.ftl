### Benchmark scores of two quantised models, as counts: what their differences can show.

benchmark = benchmark
int-note = { $int }: { $note }
source = - *{ $name }*, { $lines } Source: { $sets }.
benchmark-problems = benchmark (problems)
# number: the intervals of scores
difference-points = difference, points (95%)
problems-apart = problems apart
needed-for-significance = needed for significance
p-fisher = p, Fisher
after-holm = after Holm
p-barnard = p, Barnard
p-mcnemar = p, McNemar
official-as-printed = official, as printed
problems-solved = problems solved (%)
