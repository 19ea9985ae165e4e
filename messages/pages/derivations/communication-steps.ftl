### What a step sends, and how long it takes.

tp-of-tokens-ms =
    .en = TP{ $tensor }, { $tokens } (ms)
    .zh = TP{ $tensor }，{ $tokens }（ms）

tokens-of-step =
    .en = tokens of the step
    .zh = 一步的 token 数

all-reduces-of-step-ms =
    .en = all-reduces of a step (ms)
    .zh = 一步的 all-reduce（ms）

number-of-cards =
    .en = { $cards } cards
    .zh = { $cards } 张卡

without-groups =
    .en = without groups
    .zh = 不分组

different-experts =
    .en = different experts
    .zh = 不分组，专家互不相同

from-four-groups =
    .en = $w_a$, from four groups
    .zh = $w_a$，限四组

from-four-groups-different-experts =
    .en = from four groups, different experts
    .zh = 限四组，专家互不相同

over-network-low-latency =
    .en = copies over the network, low latency
    .zh = 低延迟模式走网络的份数

over-network-normal =
    .en = copies over the network, normal
    .zh = 普通模式走网络的份数

groups-as-in-configuration =
    .en = Groups as in the configuration of DeepSeek-V3: { $origin }.
    .zh = 专家组取自 DeepSeek-V3 的配置：{ $origin }。

latency-low =
    .en = latency, low
    .zh = 低延迟模式：延迟

latency-normal =
    .en = latency, normal
    .zh = 普通模式：延迟

per-token-low-us =
    .en = per token, low (µs)
    .zh = 低延迟模式：每 token（µs）

per-token-normal-us =
    .en = per token, normal (µs)
    .zh = 普通模式：每 token（µs）

normal-faster-from-tokens =
    .en = normal faster from (tokens)
    .zh = 普通模式从多少 token 起更快

dispatch-in-fp8-and-combine =
    .en = Dispatch in FP8 (910B2: INT8) and combine in BF16 of one layer of DeepSeek-V3, data-parallel attention ($t = 1$); tokens are those of a rank.{ $never ->
        [yes] { " " }A dash: normal mode is never faster.
       *[no] { "" }
    }
    .zh = DeepSeek-V3 一层的分发（FP8，910B2 为 INT8）与合并（BF16），注意力数据并行（$t = 1$）；token 数为每 rank。{ $never ->
        [yes] “–”表示普通模式始终不快于低延迟模式。
       *[no] { "" }
    }

tokens-of-rank =
    .en = tokens of a rank
    .zh = 每 rank 的 token 数

dispatch-and-combine-one-layer =
    .en = dispatch and combine, one layer (µs)
    .zh = 单层分发与合并（µs）

hand-over =
    .en = hand-over
    .zh = 级间交接

part-of-tokens-ms =
    .en = { $part }, { $tokens } (ms)
    .zh = { $part }，{ $tokens }（ms）

one-stage-ms =
    .en = one stage (ms)
    .zh = 一个流水线级（ms）

two-stages-ms =
    .en = two stages (ms)
    .zh = 两个流水线级（ms）

eight-ports-if-all-heads =
    .en = eight ports, if all heads were cached (ms)
    .zh = 若缓存各头展开后的键和值，经八个网口（ms）

card-and-ranks =
    .en = { $card }, EP{ $ranks }
    .zh = { $card }，EP{ $ranks }
