### What requests take: their cache, the room that weights leave, what a step of them reads.

deepseek-v3-mla-bf16 =
    .en = DeepSeek-V3, MLA, BF16
    .zh = DeepSeek-V3，MLA，BF16

deepseek-v3-mla-fp8-latent =
    .en = DeepSeek-V3, MLA, FP8 latent with scales
    .zh = DeepSeek-V3，MLA，FP8 潜向量（含缩放因子）

deepseek-v3-if-all-heads =
    .en = DeepSeek-V3, if all heads were cached, BF16
    .zh = DeepSeek-V3，若缓存全部头，BF16

deepseek-v32-mla-bf16 =
    .en = DeepSeek-V3.2, MLA in BF16, index key in FP8 with a scale
    .zh = DeepSeek-V3.2，MLA 为 BF16，索引键为 FP8（含缩放因子）

gpt-oss-gqa-bf16-every =
    .en = gpt-oss-120b, GQA, BF16, every layer in full
    .zh = gpt-oss-120b，GQA，BF16，各层均按整段计

# number: of the name of the model
llama-gqa-bf16 =
    .en = Llama 3.1 70B, GQA, BF16
    .zh = Llama 3.1 70B，GQA，BF16

model-of-document-s0-bf16 =
    .en = the model of document S0, BF16
    .zh = 文档 S0 所述模型，BF16

b-per-token-layer =
    .en = B per token, layer
    .zh = 每 token 每层（B）

b-per-token =
    .en = B per token
    .zh = 每 token（B）

on-each-of-ranks =
    .en = on each of { $ranks } ranks
    .zh = { $ranks } 个 rank 时每 rank 每 token（B）

other-models =
    .en = Other models
    .zh = 其他模型

weights-do-not-fit =
    .en = { $title }: does not fit at any concurrency; this workload is { $size } short per card.
    .zh = { $title }：任何并发都装不下；按所述工作负载，每张卡缺 { $size }。

workload-does-not-fit =
    .en = { $title }: the weights fit, the workload is { $size } short; at most { $requests } requests.
    .zh = { $title }：权重装得下，工作负载装不下，缺 { $size }，最多容纳 { $requests } 个请求。

workload-fits =
    .en = { $title }: fits with { $size } to spare; up to { $requests } requests.
    .zh = { $title }：装得下，余量 { $size }，最多可容纳 { $requests } 个请求。

empty-per-request =
    .en = empty per request
    .zh = 每请求空置 token

cache-of-deepseek-v3 =
    .en = cache of DeepSeek-V3
    .zh = DeepSeek-V3 占用

mean-share-of-empty-slots =
    .en = Mean share of empty slots. Blocks of { $block } on Ascend: { $origin }.
    .zh = 空置位置的平均比例。昇腾上每块 { $block } 个 token 见：{ $origin }。

blocks-of =
    .en = blocks of { $block }
    .zh = 每块 { $block } 个 token

context-tokens =
    .en = context (tokens)
    .zh = 上下文（token）

empty-slots =
    .en = empty slots (%)
    .zh = 空置比例（%）

usable-memory-of-card =
    .en = usable memory of a card
    .zh = 单卡可用显存

runtime-and-activations =
    .en = runtime and activations
    .zh = 运行时与激活

left-for-cache-of-card =
    .en = left for the cache of a card
    .zh = 单卡留给缓存

experts-on-host =
    .en = experts on the host
    .zh = 主机侧的专家

deepseek-v32-index-key-in-fp8 =
    .en = DeepSeek-V3.2, index key in FP8
    .zh = DeepSeek-V3.2，索引键为 FP8

gpt-oss-if-no-layer =
    .en = gpt-oss-120b, if no layer had a window
    .zh = gpt-oss-120b，若各层都不带窗口

tokens-mb =
    .en = { $tokens } tokens (MB)
    .zh = { $tokens } token（MB）

chosen-experts-ms =
    .en = $k$ experts (ms)
    .zh = $k$ 个专家 (ms)

all-experts-ms =
    .en = all experts (ms)
    .zh = 全部专家 (ms)

token-s-of-replica =
    .en = token/s of a replica
    .zh = 单副本 token/s

where-rates-come-from =
    .en = Where the rates come from
    .zh = 速率的来源

where-each-rate-comes-from =
    .en = { $device }, TP{ $ranks }, even routing; { $bandwidth } ({ $from_bandwidth }). Weights that every step reads reach { $dense } of it ({ $from_dense }), experts { $expert } ({ $from_expert }), the cache { $kv } ({ $from_kv }).
    .zh = { $device }，张量并行度 { $ranks }，路由均匀；带宽 { $bandwidth }（{ $from_bandwidth }）。每步必读的权重达到该带宽的 { $dense }（{ $from_dense }），专家达到 { $expert }（{ $from_expert }），缓存达到 { $kv }（{ $from_kv }）。
