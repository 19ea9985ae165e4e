### The pictures of the chapter on a day of users. They draw what they are given, in SI units.

arrivals =
    .en = arrivals
    .zh = 到达

what-replicas-of-hour-take =
    .en = what the replicas of the hour take
    .zh = 该小时所需副本的能力

replicas-all-day =
    .en = { $bought } replicas all day
    .zh = 全天 { $bought } 个副本

hour =
    .en = hour
    .zh = 时刻

rate-over-day-mean =
    .en = rate over the day's mean
    .zh = 速率与全天均值之比

tokens-kept-per-replica =
    .en = tokens kept per replica
    .zh = 每副本保留的 token 数

prompt-tokens-found =
    .en = prompt tokens found (%)
    .zh = 提示 token 命中（%）
