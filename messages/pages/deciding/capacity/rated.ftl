### What the documents call available, beside how much of it is there when servers fail.

low =
    .en = low
    .zh = 低

medium =
    .en = medium
    .zh = 中

high =
    .en = high
    .zh = 高

s1-plan-c-as-it-can-run =
    .en = S1 plan C with EP32, in FP8 (or a server per pipeline stage)
    .zh = S1 方案 C 用 EP32，FP8（或每台服务器一个流水线级）

fault-tolerance-documented =
    .en = fault tolerance, documented
    .zh = 文档所评容错性

groups-servers =
    .en = groups × servers
    .zh = 组数 × 台数

failed-server-takes =
    .en = lost with one server
    .zh = 坏一台损失

without-answer-year =
    .en = fully down, per year
    .zh = 每年完全中断

time-with-all-of-it =
    .en = time fully available
    .zh = 全部可用的时间

spares-for-all-of-it =
    .en = spares to be fully available { $promise } of the time
    .zh = 全部可用的时间达 { $promise } 所需备机

server-on-standby-spare-card =
    .en = a server on standby, because a spare card cannot replace one in another server
    .zh = 一台整机备机：单张备卡替代不了其他服务器上的卡

repaired-in-h-not-h =
    .en = repaired in { $low } h, not { $usual } h
    .zh = { $low } 小时修好，而非 { $usual } 小时

one-server-failed =
    .en = while one server is down
    .zh = 坏一台期间

measure =
    .en = measure
    .zh = 措施

taken-as =
    .en = modelled as
    .zh = 计算时取

throughput-as-printed =
    .en = throughput available: plan C as printed
    .zh = 可用吞吐占比：方案 C 原样

throughput-as-it-can-run =
    .en = with EP32
    .zh = 用 EP32
