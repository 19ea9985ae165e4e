### Steady states: what users see at each load, in closed form, simulated and measured.

time-to-first-token-s =
    .en = time to first token (s)
    .zh = 首 token 延迟（s）

time-per-token-s =
    .en = time per token (s)
    .zh = 每 token 时间（s）

output-throughput-token-s =
    .en = output throughput (token/s)
    .zh = 输出吞吐（token/s）

closed-form =
    .en = closed form
    .zh = 闭式

burst =
    .en = burst
    .zh = 突发

time-said =
    .en = central { $time }, { $said }
    .zh = { $time } 中心值，{ $said }

measured-said =
    .en = { $time }, { $said }
    .zh = { $time }，{ $said }

shipped-deployments =
    .en = shipped deployments
    .zh = 本书中属此情形的部署
