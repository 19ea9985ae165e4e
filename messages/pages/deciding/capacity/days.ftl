### What the chapter on a day of users shows: replicas by the hour, percentiles, scaling.

replicas-for-users =
    .en = **{ $users } users who each ask { $questions } questions a day need { $bought } replicas, { $cards } cards**, for { $share } of the requests to stay within TTFT { $ttft } and TPOT { $tpot }. Deployment: { $heading }. Load: { $load }; { $input } input and { $output } output tokens on average. In the busiest hour { $share } stay within TTFT { $busiest_ttft } and TPOT { $busiest_tpot }. Over the day the replicas serve { $utilisation } of what they could within the limits; running only as many as each hour needs would save { $saved }.
    .zh = **{ $users } 名用户、每人每天提问 { $questions } 次，需要 { $bought } 个副本，即 { $cards } 张卡**。部署：{ $heading }；负载：{ $load }，平均输入 { $input }、输出 { $output } token；限值：{ $share } 的请求 TTFT 不超过 { $ttft }、TPOT 不超过 { $tpot }。最忙一小时为 { $busiest_ttft } 与 { $busiest_tpot }。全天平均只用到限值内处理能力的 { $utilisation }；逐小时按需开机可省 { $saved }。

prompt =
    .en = prompt
    .zh = 输入长度

of-saturation =
    .en = share of saturation
    .zh = 占饱和速率

mean-of =
    .en = mean { $name }
    .zh = { $name } 均值

load =
    .en = load
    .zh = 负载

busiest-hour-over-mean =
    .en = busiest hour over mean
    .zh = 峰均比

minute-to-minute =
    .en = minute-to-minute variation
    .zh = 分钟间变异系数

request-s-of-replica =
    .en = request/s per replica
    .zh = 单副本请求/秒

busy =
    .en = utilisation
    .zh = 利用率

saved-by-scaling =
    .en = saved by scaling
    .zh = 弹性伸缩可省

arrivals =
    .en = arrivals
    .zh = 到达

what-replicas-of-hour-take =
    .en = what the hour's replicas can take within the limits
    .zh = 该小时的副本在限值内的能力

replicas-all-day =
    .en = { $bought } replicas all day
    .zh = 全天 { $bought } 个副本

hour =
    .en = hour
    .zh = 时刻

rate-over-day-mean =
    .en = rate over the day's mean
    .zh = 速率与全天均值之比
