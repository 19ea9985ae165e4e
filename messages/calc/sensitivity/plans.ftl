### A deployment as a function: any of its inputs may move, and what is decided by is asked of it.

card-hours-of-million-output =
    .en = card-hours of a million output tokens
    .zh = 每百万输出 token 的卡时

output-tokens-per-second-and =
    .en = output tokens per second and card
    .zh = 每卡每秒输出 token 数
