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
    .en = servers of a group
    .zh = 每组台数

groups =
    .en = groups
    .zh = 组数

at-ends-of-inputs =
    .en = at either end of the inputs
    .zh = 输入取两端

with-one-on-standby =
    .en = with one on standby
    .zh = 加一台备机

spares-for-all-but-one =
    .en = spares for all but one group, { $level }
    .zh = 至多缺一组（只有一组则不缺）、达 { $level } 所需备机

every-width =
    .en = Every width
    .zh = 各种宽度

servers-that-serve-as-one =
    .en = servers that serve as one
    .zh = 共同服务的服务器台数

throughput-that-is-there =
    .en = throughput available (%)
    .zh = 实有吞吐（%）
