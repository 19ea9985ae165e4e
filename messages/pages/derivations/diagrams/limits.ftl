### What deployments deliver against the time per token, and where a limit on it cuts them off.

most-within-limit =
    .en = most within the limit
    .zh = 达标的最大批次

output-token-s =
    .en = output token/s
    .zh = 输出 token/s

limit =
    .en = limit { $limit } ms
    .zh = 上限 { $limit } ms
