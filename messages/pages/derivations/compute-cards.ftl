### Cards in the chapter on compute: their ridge points, what passes them, what is reached of a peak.

weights-and-arithmetic =
    .en = weights and arithmetic
    .zh = 权重与运算

rows-at-ridge =
    .en = rows at the ridge
    .zh = 脊点处的行数

vector-unit-dtype =
    .en = vector unit, dtype
    .zh = 向量单元的数据类型

peak-tflops =
    .en = peak (TFLOPS)
    .zh = 峰值（TFLOPS）

ridge-point-flop-b =
    .en = ridge point (FLOP/B)
    .zh = 脊点（FLOP/B）

ridge-point-bf16 =
    .en = $R$, BF16
    .zh = $R$（BF16）

dense-tokens =
    .en = dense: tokens
    .zh = 稠密：token 数

moe-tokens-that-share-experts =
    .en = MoE: tokens that share the experts
    .zh = MoE：共用专家的 token 数

core-of-heads =
    .en = core, { $heads } heads: $I/R$
    .zh = 核心，{ $heads } 头：$I/R$

heads-at-ridge =
    .en = heads at the ridge
    .zh = 脊点处的头数

sum-of-larger-ms =
    .en = sum of the larger (ms)
    .zh = 取较大者之和（ms）

sum-of-both-ms =
    .en = sum of both (ms)
    .zh = 两者之和（ms）

# number: 1 is where arithmetic takes as long as reading
how-classes-are-bound =
    .en = DeepSeek-V3, one of eight tensor-parallel ranks; { $requests } requests at { $context } tokens of context, and a prompt of { $prompt } tokens, uniform routing; W8A8 on the 910B2, FP8 on H20 and H800. Above 1 a class is compute-bound.
    .zh = DeepSeek-V3，八个张量并行 rank 之一；{ $requests } 个请求、上下文 { $context } token，以及一条 { $prompt } token 的 prompt，路由均匀；910B2 用 W8A8，H20 与 H800 用 FP8。大于 1 表示受限于算力。

ratio-of-bytes =
    .en = ratio of bytes
    .zh = 字节之比

gain-with-all-traffic =
    .en = gain, $\zeta = 2 b_{ "{" }16{ "}" }$
    .zh = 加速，$\zeta = 2 b_{ "{" }16{ "}" }$

gain-with-traffic =
    .en = gain, $\zeta$ = { $traffic }
    .zh = 加速，$\zeta$ = { $traffic }

gain-without-size =
    .en = gain as $b \to 0$
    .zh = $b \to 0$ 时的加速

weights-stream-at-of-nominal =
    .en = share of the nominal bandwidth at which four-bit weights are read, $\zeta$ = { $traffic }
    .zh = 读 4 比特权重的速率占标称带宽，$\zeta$ = { $traffic }

l2-traffic-per-weight =
    .en = $\zeta$, L2 traffic per weight
    .zh = $\zeta$，每个权重的 L2 读写量

where-traffic-comes-from =
    .en = Where $\zeta$ comes from
    .zh = $\zeta$ 的来源

roofline-of-peak =
    .en = roofline, of the peak
    .zh = 屋顶线（占峰值）

measured-of-peak =
    .en = measured, of the peak
    .zh = 实测（占峰值）

measured-of-roofline =
    .en = measured of roofline
    .zh = 实测占屋顶线

medians-over-shapes =
    .en = Medians over the shapes of a class of rows, ranges from the worst to the best shape; the roofline is taken at the geometric mean of the rows. Where weights stay in the L2 cache, a measurement can exceed it.
    .zh = 数值为同一行数档内各形状的中位数，范围自最差至最好；屋顶线按该档行数的几何平均计算。权重留在 L2 缓存中时可以越过屋顶线。

what-book-takes-from-such =
    .en = What the book takes from such measurements
    .zh = 本书据此类实测所取的数值

share-of-peak-with-many =
    .en = { $card }, { $dtype }: share of the peak with many rows
    .zh = { $card }，{ $dtype }：行数足够多时的峰值利用率

rows-multiplied-at-least =
    .en = { $card }: rows multiplied at least, $m_0$
    .zh = { $card }：最小处理行数 $m_0$

card-in-phase =
    .en = { $card }, { $phase }
    .zh = { $card }，{ $phase }
