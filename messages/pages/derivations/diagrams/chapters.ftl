### The chapters of the book, and which of them hands its formulas to which.

parameters =
    .en = Parameters
    .zh = 参数量

counted-from-shapes =
    .en = counted from shapes
    .zh = 由形状计数

memory =
    .en = Memory
    .zh = 显存

what-card-holds-and-reads =
    .en = what a card holds and reads
    .zh = 一张卡存什么、读什么

compute =
    .en = Compute
    .zh = 计算

operations-of-step =
    .en = operations of a step
    .zh = 一步的运算

communication =
    .en = Communication
    .zh = 通信

what-cards-send =
    .en = what cards send
    .zh = 卡间传输

latency =
    .en = Latency
    .zh = 延迟

how-long-step-takes =
    .en = how long a step takes
    .zh = 一步要多久

throughput =
    .en = Throughput
    .zh = 吞吐

tokens-per-second =
    .en = tokens per second
    .zh = 每秒多少 token

serving =
    .en = Serving
    .zh = 服务

what-user-waits-for =
    .en = what a user waits for
    .zh = 用户等什么

deciding =
    .en = Deciding
    .zh = 决策

operating =
    .en = Operating
    .zh = 运维

evidence =
    .en = Evidence
    .zh = 核对

what-feeds-what =
    .en = What feeds what
    .zh = 各章之间的依赖

how-chapters-depend =
    .en = { $chapters } chapters of derivations. A chapter uses quantities that others derive; most often { $uses }. Deciding, operating and evidence rest on all of them.
    .zh = 推导共 { $chapters } 章，每章都用到别章推出的量，最多的是 { $uses }。决策、运维与核对都以全部推导为基础。

used-further-on =
    .en = used further on
    .zh = 供后文使用

used-further-up =
    .en = used further up
    .zh = 供前文使用

computed-second-time =
    .en = computed a second time by an independent program
    .zh = 由独立程序再算一遍

each-box-is-link =
    .en = each box is a link
    .zh = 点击方框进入各章

use =
    .en = { $of } → { $to } ({ $count })
    .zh = { $of } → { $to } ({ $count })
