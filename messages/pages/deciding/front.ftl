### The front page's answer without a script: how many of usual cards serve an ordinary load.

weights-cut =
    .en = weights, cut
    .zh = 权重、切分

per-token-tpot =
    .en = per token (TPOT)
    .zh = 每 token（TPOT）

first-token-ttft =
    .en = first token (TTFT)
    .zh = 首 token（TTFT）

million-output-tokens =
    .en = a million output tokens
    .zh = 每百万输出 token
