### DeepSeek-R1 on each card: the standard question.

weights-layout =
    .en = weights, layout
    .zh = 权重、切分

per-token-tpot =
    .en = per token (TPOT)
    .zh = 每 token（TPOT）

first-token-ttft =
    .en = first token (TTFT)
    .zh = 首 token（TTFT）

million-output-tokens =
    .en = a million output tokens, prompts included
    .zh = 每百万输出 token（含输入）

of-hardware =
    .en = { $price }, from hardware prices
    .zh = { $price }，按硬件报价折算
