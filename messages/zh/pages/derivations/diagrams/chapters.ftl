### The chapters of the book, and which of them hands its formulas to which.

parameters = 参数量
counted-from-shapes = 由形状计数
memory = 显存
what-card-holds-and-reads = 一张卡存什么、读什么
compute = 计算
operations-of-step = 一步的运算
communication = 通信
what-cards-send = 卡间传输
latency = 延迟
how-long-step-takes = 一步要多久
throughput = 吞吐
tokens-per-second = 每秒多少 token
serving = 服务
what-user-waits-for = 用户等什么
deciding = 决策
operating = 运维
evidence = 核对
what-feeds-what = 各章之间的依赖
how-chapters-depend = 推导共 { $chapters } 章，每章都用到别章推出的量，最多的是 { $uses }。决策、运维与核对都以全部推导为基础。
used-further-on = 供后文使用
used-further-up = 供前文使用
computed-second-time = 由独立程序再算一遍
each-box-is-link = 点击方框进入各章
use = { $of } → { $to } ({ $count })
