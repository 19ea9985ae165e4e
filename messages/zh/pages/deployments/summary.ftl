### All deployments of the documents on one page: a row and a line of the picture for each.

ttft-of-prompt-pools = TTFT（预填充池）
does-not-fit = **装不下**
not-in-this-precision = **不支持此精度**
fits = 装得下
fits-speed-holds = 装得下，速度相符
fits-too-slow = 装得下，**速度不及**
fits-faster = 装得下，快于文档
fits-in-interval = 装得下，区间内
fits-outside = 装得下，**区间外**
printed-goal =
    { $text }{ $of }{ $goal ->
        [yes] （目标）
       *[no] { "" }
    }
printed = 文档
cards-cut-precision = 卡、切分、精度
token-s = token/s，{ $heading }
# number: the intervals of all answers
derived = 推导（80%）
tpot-in-ms = TPOT（ms），{ $heading }
usable = 可用
as-derived = 与推导相同
memory-needed-usable =
    所需显存 /
    可用显存
speed-printed-or-measured-derived =
    文档或实测速度 /
    推导速度
does-not-fit-or-not = 装不下，或不支持此精度
hollow-goal = 空心：目标
# how names of cards may begin; parted by bars
makers = NVIDIA|Ascend|昇腾
