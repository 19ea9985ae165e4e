### The memory of one rank, to scale: what is cut among ranks and what each of them has whole.

# number: one of the parts
of-parts =
    .en = 1 of { $ranks } parts
    .zh = 切成 { $ranks } 份

replicated =
    .en = replicated
    .zh = 每卡一整份

dense-and-shared-experts =
    .en = dense and shared experts
    .zh = 稠密层与共享专家

embedding-and-head =
    .en = embedding and head
    .zh = 嵌入与输出头

down-projections-router-norms =
    .en = down-projections, router, norms
    .zh = 降维、路由器、归一化

latent-cache =
    .en = latent cache
    .zh = 潜向量缓存

of-step =
    .en = of a step
    .zh = 一步所需

runtime =
    .en = runtime
    .zh = 运行时

reserved =
    .en = reserved
    .zh = 预留

one-rank-of-to-scale =
    .en = One rank of { $plan }, to scale
    .zh = { $plan } 的一个 rank（按比例）

what-is-taken =
    .en = { $used } of { $capacity } are taken; { $copied } are replicated on every rank of the tensor-parallel group. From the bottom: { $listed }.
    .zh = 共 { $capacity }，占用 { $used }，其中 { $copied } 是张量并行组内每卡各一整份。自下而上：{ $listed }。

one-of-its-ranks-on =
    .en = one of its ranks on { $card }
    .zh = 其中一个 rank，{ $card }

free =
    .en = free
    .zh = 空闲

divided-among-ranks =
    .en = divided among ranks
    .zh = 在各 rank 间切分

replicated-on-every-rank =
    .en = replicated on every rank
    .zh = 每个 rank 一整份

other =
    .en = other
    .zh = 其他

size-of-part =
    .en = { $part } { $size }
    .zh = { $part } { $size }
