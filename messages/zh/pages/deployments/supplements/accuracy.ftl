### Benchmark scores of two quantised models, as counts: what their differences can show.

benchmark = 评测集
int-note = { $int } 题：{ $note }
source = - **{ $name }**，{ $lines }来源：{ $sets }。
benchmark-problems = 评测集（题数）
# number: the intervals of scores
difference-points = 差值，百分点（95% 区间）
problems-apart = 相差题数
needed-for-significance = 显著所需题数
p-fisher = p（Fisher）
after-holm = Holm 校正后
p-barnard = p（Barnard）
p-mcnemar = p（McNemar）
official-as-printed = 官方（文档所写）
problems-solved = 正确率（%）
