### Experts on three levels, and how wide the way from each of them is, to scale.

memory-of-cards =
    .en = memory of the cards
    .zh = 各卡显存

memory-of-host =
    .en = memory of the host
    .zh = 主机内存

storage =
    .en = storage
    .zh = 硬盘

experts-on-three-levels =
    .en = Experts on three levels
    .zh = 专家分三级存放

what-levels-are =
    .en = Bandwidth, share of the experts, and time until one expert is there, from each level: { $listed }.
    .zh = 各级的带宽、所存专家的比例、取一个专家的时间：{ $listed }。

matrix-unit-of-card =
    .en = matrix unit of a card
    .zh = 一张卡的矩阵单元

rate-of-card =
    .en = { $rate } a card
    .zh = { $rate }，每卡

one-expert =
    .en = one expert: { $time }
    .zh = 取一个专家：{ $time }

of-experts =
    .en = { $part } of the experts{ $stored ->
        [yes] , { $size }
       *[no] { "" }
    }
    .zh = 专家的 { $part }{ $stored ->
        [yes] ，{ $size }
       *[no] { "" }
    }

how-ways-are-drawn =
    .en = Ways as wide as they are fast; the bar in each box is its share of the experts.
    .zh = 路径宽度与带宽成正比；框内色条为所存专家的比例。

level =
    .en = { $name } { $rate }, { $share }, { $time }
    .zh = { $name } { $rate }, { $share }, { $time }
