### The memory of one rank, to scale: what is cut among ranks and what each of them has whole.

# number: one of the parts
of-parts = 切成 { $ranks } 份
replicated = 每卡一整份
dense-and-shared-experts = 稠密层与共享专家
embedding-and-head = 嵌入与输出头
down-projections-router-norms = 降维、路由器、归一化
latent-cache = 潜向量缓存
of-step = 一步所需
runtime = 运行时
reserved = 预留
one-rank-of-to-scale = { $plan } 的一个 rank（按比例）
what-is-taken = 共 { $capacity }，占用 { $used }，其中 { $copied } 是张量并行组内每卡各一整份。自下而上：{ $listed }。
one-of-its-ranks-on = 其中一个 rank，{ $card }
free = 空闲
divided-among-ranks = 在各 rank 间切分
replicated-on-every-rank = 每个 rank 一整份
other = 其他
size-of-part = { $part } { $size }
