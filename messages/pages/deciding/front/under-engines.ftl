### The standard question's deployments of R1 under one engine and another.

first-token-ms =
    .en = first token (ms)
    .zh = 首 token（ms）

tokens-per-second =
    .en = tokens per second
    .zh = token/s
