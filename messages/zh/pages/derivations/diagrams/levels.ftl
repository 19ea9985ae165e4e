### Experts on three levels, and how wide the way from each of them is, to scale.

memory-of-cards = 各卡显存
memory-of-host = 主机内存
storage = 硬盘
experts-on-three-levels = 专家分三级存放
what-levels-are = 各级的带宽、所存专家的比例、取一个专家的时间：{ $listed }。
matrix-unit-of-card = 一张卡的矩阵单元
rate-of-card = { $rate }，每卡
one-expert = 取一个专家：{ $time }
of-experts =
    专家的 { $part }{ $stored ->
        [yes] ，{ $size }
       *[no] { "" }
    }
how-ways-are-drawn = 路径宽度与带宽成正比；框内色条为所存专家的比例。
level = { $name } { $rate }, { $share }, { $time }
