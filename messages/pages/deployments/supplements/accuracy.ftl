### Benchmark scores of two quantised models, as counts: what their differences can show.

benchmark =
    .en = benchmark
    .zh = 评测集

int-note =
    .en = { $int }: { $note }
    .zh = { $int } 题：{ $note }

source =
    .en = - *{ $name }*, { $lines } Source: { $sets }.
    .zh = - **{ $name }**，{ $lines }来源：{ $sets }。

benchmark-problems =
    .en = benchmark (problems)
    .zh = 评测集（题数）

# number: the intervals of scores
difference-points =
    .en = difference, points (95%)
    .zh = 差值，百分点（95% 区间）

problems-apart =
    .en = problems apart
    .zh = 相差题数

needed-for-significance =
    .en = needed for significance
    .zh = 显著所需题数

p-fisher =
    .en = p, Fisher
    .zh = p（Fisher）

after-holm =
    .en = after Holm
    .zh = Holm 校正后

p-barnard =
    .en = p, Barnard
    .zh = p（Barnard）

p-mcnemar =
    .en = p, McNemar
    .zh = p（McNemar）

official-as-printed =
    .en = official, as printed
    .zh = 官方（文档所写）

problems-solved =
    .en = problems solved (%)
    .zh = 正确率（%）
