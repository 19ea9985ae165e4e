### Latent attention in its two orders of multiplication.

title =
    .en = Expanded and absorbed latent attention
    .zh = 潜向量注意力：展开与吸收

about =
    .en = Two chains of products in one layer: expanded, { $expanded } elements are read per cached position, absorbed { $absorbed }.
    .zh = 一层中的两种乘法顺序：展开时每个缓存位置读 { $expanded } 个元素，吸收时读 { $absorbed } 个。

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
    .en = Per cached position: { $read } elements read, { $score } multiply-adds for a query.
    .zh = 每个缓存位置：读 { $read } 个元素，每个查询 { $score } 次乘加。

expands =
    .en = Before any score: { $expand } multiply-adds per cached position, once for all queries.
    .zh = 打分之前：每个缓存位置 { $expand } 次乘加，所有查询共用一次。

expands-nothing =
    .en = Nothing is computed per cached position before a score.
    .zh = 打分之前，缓存位置上无需任何计算。
