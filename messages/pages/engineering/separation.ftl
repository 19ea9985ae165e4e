### Prefill and decode on cards of their own: when it pays, how many of each, what it costs.

card-weights =
    .en = card, weights
    .zh = 卡与权重

token-s-per-card-on =
    .en = token/s per card on { $servers } servers, two pools over one
    .zh = { $servers } 台服务器的单卡吞吐：两池 ÷ 单池

prefill-decode-groups-cards =
    .en = prefill + decode, groups × cards
    .zh = 预填充 + 解码（组数 × 卡数）

servers-from-which-it-pays =
    .en = fewest servers on which it pays
    .zh = 最少几台划算

one-pool-cannot-keep-target =
    .en = one pool cannot meet the target
    .zh = 单池达不到目标

target-time-per-token-ms =
    .en = target time per token (ms)
    .zh = 目标每 token 时间（ms）

token-s-of-card-two =
    .en = token/s of a card, two pools / one
    .zh = 单卡吞吐：两个资源池 / 一个

one-pool =
    .en = one pool
    .zh = 一个资源池

two-pools =
    .en = **two**, { $split }: { $gain }
    .zh = **两个**，{ $split }：{ $gain }

target =
    .en = target { $limit } ms
    .zh = 目标 { $limit } ms

prompt-answer =
    .en = input / output
    .zh = 输入 / 输出

cache-of-prompt =
    .en = KV cache of a prompt
    .zh = 单条 prompt 的 KV 缓存

prefill-of-prompt =
    .en = prefill per prompt, at full load
    .zh = 满载时单条 prompt 的预填充时间

through-ports =
    .en = transfer through the ports
    .zh = 经网口传输

ports-may-be-slower-times =
    .en = ports may be slower by a factor of
    .zh = 网口慢几倍仍跟得上

prefill-decode =
    .en = prefill + decode
    .zh = 预填充 + 解码

tpot-mean =
    .en = TPOT, mean
    .zh = TPOT 均值

ttft-mean =
    .en = TTFT, mean
    .zh = TTFT 均值

tpot-tail =
    .en = TPOT, { $share }
    .zh = TPOT { $share } 分位

ttft-tail =
    .en = TTFT, { $share }
    .zh = TTFT { $share } 分位

all-do-both =
    .en = one pool
    .zh = 单池（全部兼做）
