### All deployments of the documents on one page: a row and a line of the picture for each.

ttft-of-prompt-pools =
    .en = TTFT, of prompt pools
    .zh = TTFT（预填充池）

does-not-fit =
    .en = **does not fit**
    .zh = **装不下**

not-in-this-precision =
    .en = **not in this precision**
    .zh = **不支持此精度**

fits =
    .en = fits
    .zh = 装得下

fits-speed-holds =
    .en = fits; speed agrees
    .zh = 装得下，速度相符

fits-too-slow =
    .en = fits; **too slow**
    .zh = 装得下，**速度不及**

fits-faster =
    .en = fits; faster
    .zh = 装得下，快于文档

fits-in-interval =
    .en = fits; in the interval
    .zh = 装得下，区间内

fits-outside =
    .en = fits; **outside**
    .zh = 装得下，**区间外**

printed-goal =
    .en = { $text }{ $of }{ $goal ->
        [yes] { " " }(goal)
       *[no] { "" }
    }
    .zh = { $text }{ $of }{ $goal ->
        [yes] （目标）
       *[no] { "" }
    }

printed =
    .en = printed
    .zh = 文档

cards-cut-precision =
    .en = cards, layout, precision
    .zh = 卡、切分、精度

token-s =
    .en = token/s, { $heading }
    .zh = token/s，{ $heading }

# number: the intervals of all answers
derived =
    .en = derived (80%)
    .zh = 推导（80%）

tpot-in-ms =
    .en = TPOT in ms, { $heading }
    .zh = TPOT（ms），{ $heading }

usable =
    .en = usable
    .zh = 可用

as-derived =
    .en = as derived
    .zh = 与推导相同

memory-needed-usable =
    .en = memory needed /
    usable
    .zh = 所需显存 /
    可用显存

speed-printed-or-measured-derived =
    .en = speed printed or
    measured / derived
    .zh = 文档或实测速度 /
    推导速度

does-not-fit-or-not =
    .en = does not fit, or not in this precision
    .zh = 装不下，或不支持此精度

hollow-goal =
    .en = hollow: a goal
    .zh = 空心：目标

# how names of cards may begin; parted by bars
makers =
    .en = NVIDIA|Ascend
    .zh = NVIDIA|Ascend|昇腾
