### A deployment as a function: any of its inputs may move, and what is decided by is asked of it.

card-hours-of-million-output = 每百万输出 token 的卡时
output-tokens-per-second-and = 每卡每秒输出 token 数
