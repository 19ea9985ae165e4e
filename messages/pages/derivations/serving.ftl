### What users of three deployments wait for: chunks, prefixes, drafts, pools and queues.

# number: the cards of the deployment
h20-fp8 =
    .en = 8 × H20 141 GB, FP8
    .zh = 8 × H20 141 GB，FP8

# number: the cards of the deployment
h800-fp8 =
    .en = 16 × H800, FP8, TP16
    .zh = 16 × H800，FP8，TP16

# number: the cards of the deployment
ascend-w8a8 =
    .en = 16 × 910B2, W8A8, TP16
    .zh = 16 × 910B2，W8A8，TP16

chunks =
    .en = chunks $m$
    .zh = 分块数 $m$

prompts =
    .en = prompts $r$
    .zh = prompt 数 $r$

exact-mean =
    .en = exact mean
    .zh = 精确平均

exact-mean-and-formula-beside =
    .en = Exact mean and formula beside each other
    .zh = 精确平均与公式对照

each-prompt-fills-chunk =
    .en = each prompt fills a chunk
    .zh = 每条 prompt 恰好一块

all-others-share-one-chunk =
    .en = all others share one chunk
    .zh = 其余 prompt 同在一块

case-chunks-of =
    .en = case, chunks of $S$
    .zh = 情形，每块用时 $S$

time-of-chunk-and-prefill =
    .en = Time of a chunk and prefill rate (token/s) for a prompt of { $prompt } tokens, one at a time.
    .zh = 单条 { $prompt } token 的 prompt 的每块时间与预填充速率（token/s）。

prefill-of-one-prompt =
    .en = $\tau_p$ of one prompt on
    .zh = 单条 prompt 的 $\tau_p$

break-even-acceptance-on =
    .en = break-even acceptance on
    .zh = 盈亏平衡接受率

empty-where-batch-does-not-fit =
    .en = Empty where the batch does not fit.
    .zh = 空格表示显存放不下该批次。

speed-up-of-decode =
    .en = speed-up of decode
    .zh = 解码加速比

prefill-replicas-and-requests =
    .en = $\lambda_p$, requests that decode
    .zh = $\lambda_p$，解码请求数

input-and-output-tokens-in =
    .en = Input and output tokens in the headings; { $requests } requests on a decode replica or as many as fit, replicas of the same cards for both.
    .zh = 表头为输入与输出 token 数；解码副本上有 { $requests } 个请求，放不下时取能放下的个数；两个池使用同样的副本。

transfer-and-share =
    .en = transfer of the cache, share of $\tau_p$
    .zh = 缓存传输，占 $\tau_p$ 的比例

network-of-cards =
    .en = Network of a card: { $cards }. The H20 are in S1's network.
    .zh = 每卡网络：{ $cards }。H20 按 S1 的组网。

network-of-card =
    .en = { $cards } { $rate }
    .zh = { $cards } { $rate }

transfer-of-cache =
    .en = The transfer of the cache
    .zh = 缓存传输

constant-times =
    .en = constant times (M/D/1)
    .zh = 服务时间固定（M/D/1）

times-that-deviate =
    .en = times that deviate by $\delta_w$ of their mean (M/G/1)
    .zh = 服务时间的变异系数为 $\delta_w$（M/G/1）

exponential-times =
    .en = exponential times (M/M/1)
    .zh = 服务时间呈指数分布（M/M/1）

constant-times-near-saturation =
    .en = $\rho_u \to 1$, constant times
    .zh = $\rho_u \to 1$，服务时间固定

mean-wait =
    .en = mean wait
    .zh = 平均等待

constant =
    .en = constant
    .zh = 固定

exponential =
    .en = exponential
    .zh = 指数

independent =
    .en = independent
    .zh = 互不等待

in-step =
    .en = in lockstep
    .zh = 同步前进

tpot-ranks =
    .en = TPOT, ranks
    .zh = TPOT，各 rank

how-ranks-are-placed =
    .en = DeepSeek-V3 in FP8 on { $ranks } H200, DP{ $ranks } EP{ $ranks }, prompts of { $prompt } tokens, { $requests } requests per rank.
    .zh = { $ranks } 张 H200 上的 FP8 版 DeepSeek-V3，DP{ $ranks } EP{ $ranks }，输入 { $prompt } token，每个 rank { $requests } 个请求。

one-draft =
    .en = one draft
    .zh = 投机一个 token

three-drafts =
    .en = three
    .zh = 三个
