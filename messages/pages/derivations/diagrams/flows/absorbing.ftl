### Latent attention in its two orders of multiplication.

title =
    .en = Expanded and absorbed latent attention
    .zh = 潜向量注意力：展开与吸收

about =
    .en = Two chains of products in one layer: expanded, { $expanded } elements are read per cached token, absorbed { $absorbed }.
    .zh = 一层中的两种乘法顺序：展开时每个缓存 token 读 { $expanded } 个元素，吸收时读 { $absorbed } 个。

expanded =
    .en = Expanded (prefill)
    .zh = 展开（预填充）

absorbed =
    .en = Absorbed (decode)
    .zh = 吸收（解码）

latent =
    .en = cached latent
    .zh = 缓存的潜向量

times-up =
    .en = × key and value up-projections
    .zh = × 键、值升维矩阵

keys-values =
    .en = keys and values of all heads
    .zh = 所有头的键与值

scores =
    .en = scores and sums per head
    .zh = 逐头打分与加权

query-times-up =
    .en = query × key up-projection
    .zh = 查询 × 键升维矩阵

scores-on-latent =
    .en = scores and sums on the latent
    .zh = 在潜向量上打分与加权

out-times-up =
    .en = × value up-projection
    .zh = × 值升维矩阵

takes =
    .en = Per cached token: { $read } read in { $format }, { $score } FLOP for a query.
    .zh = 每个缓存 token：以 { $format } 读 { $read }，每个查询 { $score } FLOP。

expands =
    .en = Before any score: { $expand } FLOP per cached token, once for all queries.
    .zh = 打分之前：每个缓存 token { $expand } FLOP，所有查询共用一次。

expands-nothing =
    .en = Nothing is computed per cached token before a score.
    .zh = 打分之前，缓存的 token 无需任何计算。
