### Latent attention in its two orders of multiplication.

title = 潜向量注意力：展开与吸收
about = 一层中的两种乘法顺序：展开时每个缓存 token 读 { $expanded } 个元素，吸收时读 { $absorbed } 个。
expanded = 展开（预填充）
absorbed = 吸收（解码）
latent = 缓存的潜向量
times-up = × 键、值升维矩阵
keys-values = 所有头的键与值
scores = 逐头打分与加权
query-times-up = 查询 × 键升维矩阵
scores-on-latent = 在潜向量上打分与加权
out-times-up = × 值升维矩阵
takes = 每个缓存 token：以 { $format } 读 { $read }，每个查询 { $score } FLOP。
expands = 打分之前：每个缓存 token { $expand } FLOP，所有查询共用一次。
expands-nothing = 打分之前，缓存的 token 无需任何计算。
