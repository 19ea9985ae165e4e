### What deployments deliver: ceilings of a batch, pipelines, goodput and replicas.

compute =
    .en = compute
    .zh = 算力

links =
    .en = links
    .zh = 链路

bandwidth-ceiling-token-s =
    .en = bandwidth ceiling (token/s)
    .zh = 带宽上限（token/s）

gain =
    .en = gain
    .zh = 倍数

step-estimate =
    .en = step, estimate
    .zh = 整步时间（估算）

estimate-token-s =
    .en = estimate (token/s)
    .zh = 估算（token/s）

how-ceilings-are-read =
    .en = { $name }, tensor-parallel size { $size }. $E$: distinct experts that a layer reads. Gains are relative to half the batch. The estimate has no prefill of other requests in it. Compute allows { $compute } token/s at any batch, the links { $links }; { $most } requests fit.
    .zh = { $name }，张量并行度 { $size }。$E$ 为每层选中的不同专家数；倍数是与批次减半相比；估算值不含其他请求的预填充。算力允许每秒 { $compute } token，与批次无关；链路允许 { $links }；显存可容纳 { $most } 个请求。

estimate =
    .en = estimate
    .zh = 估算

memory-is-full =
    .en = memory is full
    .zh = 显存已满

token-s-of-replica =
    .en = token/s of the replica
    .zh = 单副本 token/s

chunks =
    .en = chunks $m_1$
    .zh = 分块数 $m_1$

# number: the cards of every layout
sixteen-cards =
    .en = 16 cards
    .zh = 16 张卡

layout =
    .en = layout
    .zh = 并行方式

communication-step =
    .en = communication, step
    .zh = 整步中的通信

first-token-of-burst =
    .en = $\tau_1$ of the burst
    .zh = 突发的 $\tau_1$

how-layouts-are-compared =
    .en = DeepSeek-V3, official FP8 on H800, W8A8 on 910B2; { $wave } requests at once, of { $prompt } input and { $answer } output tokens, two nodes.
    .zh = DeepSeek-V3，H800 用官方 FP8，910B2 用 W8A8；{ $wave } 个请求同时到达，输入 { $prompt }、输出 { $answer } token，两个节点。

# number: the cards of the deployment
h20-fp8 =
    .en = 8 × H20 141 GB, FP8, TP8
    .zh = 8 × H20 141 GB，FP8，TP8

# number: the cards of the deployment
h800-fp8 =
    .en = 16 × H800, FP8, TP8 × PP2
    .zh = 16 × H800，FP8，TP8 × PP2

# number: the cards of the deployment
ascend-w8a8 =
    .en = 16 × 910B2, W8A8, TP8 × PP2
    .zh = 16 × 910B2，W8A8，TP8 × PP2

first-token-of-one-request =
    .en = $\tau_1$ of one request
    .zh = 单请求 $\tau_1$

most-within-limit =
    .en = $c$ within the limit on $\tau$
    .zh = $\tau$ 达标的最大 $c$

output-there =
    .en = $X$ there (token/s)
    .zh = 此时 $X$（token/s）

first-token-there =
    .en = $\tau_1$ there
    .zh = 此时 $\tau_1$

most-in-memory =
    .en = $c$, memory full
    .zh = 显存放满的 $c$

output-in-full-memory =
    .en = $X$ (token/s)
    .zh = $X$（token/s）

requests-on-fullest =
    .en = requests on the most loaded
    .zh = 负载最高的副本的请求数

used =
    .en = share used
    .zh = 利用率

share-of-ideal =
    .en = share of $D$ times the rate of one
    .zh = 与单副本 $D$ 倍之比

# number: the card of the replicas
requests-over-replicas-of-eight =
    .en = { $users } requests at once, of { $prompt } input and { $answer } output tokens, over replicas of eight H20 (141 GB) each, in FP8; replicas share no experts.
    .zh = { $users } 个请求同时到达，输入 { $prompt }、输出 { $answer } token，分到若干副本；每副本八张 141 GB 的 H20，FP8，副本之间不共用专家。
