### The pictures of the chapters on goals. They draw results that they are given.

throughput-per-card-token-s =
    .en = throughput per card (token/s)
    .zh = 每卡吞吐（token/s）

cheapest-per-tokens =
    .en = cheapest, { $currency } per 10⁶ tokens:
    .zh = 最低成本，{ $currency } / 10⁶ token：

what-binds-decode-step =
    .en = what binds a decode step
    .zh = 解码步的瓶颈
