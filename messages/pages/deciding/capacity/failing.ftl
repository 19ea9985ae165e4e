### What the chapter on growth shows of servers that fail: wide against narrow, and spares.

worse-ends =
    .en = worse ends
    .zh = 取较差一端

as-expected =
    .en = as expected
    .zh = 取中值

better-ends =
    .en = better ends
    .zh = 取较好一端

time-between-failures-of-server =
    .en = time between failures of a server
    .zh = 单台平均无故障时间

time-to-repair-server =
    .en = time to repair a server
    .zh = 修复时间

start-of-engine-without-reading =
    .en = start of an engine, without reading weights
    .zh = 引擎启动，不含读权重

servers-of-group =
    .en = servers per group
    .zh = 每组台数

groups =
    .en = groups
    .zh = 组数

at-ends-of-inputs =
    .en = with inputs at either end of their ranges
    .zh = 可用占比，各输入取范围两端

with-one-on-standby =
    .en = with one on standby
    .zh = 可用占比，加一台备机

spares-for-all-but-one =
    .en = spares so that, { $level } of the time, at most one group is down (of a single group: none)
    .zh = 要 { $level } 的时间至多缺一组，所需备机（只有一组时须不缺）

every-width =
    .en = Every width
    .zh = 各种宽度

servers-that-serve-as-one =
    .en = servers that serve as one
    .zh = 共同服务的服务器台数

throughput-that-is-there =
    .en = throughput available (%)
    .zh = 可用吞吐占比（%）
