### What the documents say tells a bottleneck and helps against it, tried on what of theirs runs.

helps =
    .en = helps
    .zh = 有效

not-enough =
    .en = not enough
    .zh = 不够

does-nothing =
    .en = does nothing
    .zh = 无作用

only-more-places =
    .en = no faster; holds more requests
    .zh = 不降延迟，只多容纳请求

only-fewer-places =
    .en = no faster; holds fewer requests
    .zh = 不降延迟，容纳的请求反而变少

harms =
    .en = harms
    .zh = 有害

no-longer-fits =
    .en = these requests no longer fit, the factors are out of reach
    .zh = 装不下这些请求，所列倍数达不到

tp8-pp2-not-tp4-pp4 =
    .en = TP8 × PP2, not TP4 × PP4
    .zh = TP4×PP4 改为 TP8×PP2

prompts-of-half-length =
    .en = prompts of half the length
    .zh = 输入减半

# number: one, which English spells
as-printed-one-request-per =
    .en = as printed, one request per replica
    .zh = 按原方案，每副本仅 1 个请求

as-printed-half-as-many =
    .en = as printed, half the KV bytes per token
    .zh = 按原方案，每 token KV 字节减半

tp2-pp8-not-tp4-pp4 =
    .en = TP2 × PP8, not TP4 × PP4
    .zh = TP4×PP4 改为 TP2×PP8

sending-takes-no-time-at =
    .en = no byte takes time, inside a server or between servers
    .zh = 节点内、节点间的传输均不耗时（延迟照旧）

as-many-requests-as-cache =
    .en = as many requests as are sure to fit in the cache
    .zh = 并发增到缓存必能容纳的上限

instead =
    .en = { $new }, not { $old }
    .zh = { $old } 改为 { $new }

every-expert-as-often-as =
    .en = every expert selected equally often
    .zh = 各专家负载完全均匀

no-block-is-left-half =
    .en = no block is left half empty
    .zh = 缓存块全部填满

as-printed-alone =
    .en = as printed, alone
    .zh = 按原文，单独使用

with-weights-that-were-quantised =
    .en = with AWQ-quantised weights
    .zh = 另备 AWQ 量化权重

requests-have-tokens-as-before =
    .en = requests still have { $tokens } tokens
    .zh = 请求仍只有 { $tokens } token

on-by-default-prompts-share =
    .en = on by default; prompts share nothing
    .zh = 默认已启用；prompt 无公共前缀

experts-cut-along-tp-not =
    .en = experts sharded by TP, not EP over { $cards } cards
    .zh = 专家沿 TP 切分，不铺到 { $cards } 张卡

one-server-four-bit-weights =
    .en = one server, 4-bit weights, one request
    .zh = 单机，4 比特权重，单请求

ttft-more-than-tpot-kv =
    .en = TTFT rises more than TPOT, KV share does not
    .zh = TTFT 升得比 TPOT 多，KV 占用不变

preemptions-kv-share-before-start =
    .en = preemptions, KV share; before a start, the memory budget
    .zh = 抢占、KV 占用；启动前看显存预算

ttft-more-than-tpot-card =
    .en = TTFT rises more than TPOT; the cards' clock is as usual
    .zh = TTFT 升得比 TPOT 多，卡的频率正常

requests-waiting-while-few-run =
    .en = requests wait while few run
    .zh = 运行数少而有请求等待

preemptions-kv-share-near-one =
    .en = preemptions, KV share near its maximum
    .zh = 抢占，KV 占用接近满

tokens-by-rank-sglang-alone =
    .en = tokens by rank (SGLang only)
    .zh = 各 rank 的 token 数（仅 SGLang）

none-is-needed =
    .en = no metric is needed
    .zh = 无需指标

short-by-card-left-tpot =
    .en = short by { $lacks } a card → { $left } left; TPOT { $tpot }
    .zh = 单卡缺 { $lacks } → 余 { $left }；TPOT { $tpot }

short-by-card =
    .en = short by { $lacks } a card → { $still }
    .zh = 单卡缺 { $lacks } → 缺 { $still }

at-most-more-requests =
    .en = at most { $change } more requests
    .zh = 至多多容纳 { $change } 的请求

places =
    .en = { $found }; requests that fit { $before } → { $after }
    .zh = { $found }；可容纳请求 { $before } → { $after }

busy-with-requests =
    .en = kernels, those of communication included, run { $busy } of the time; with { $few } requests { $then }
    .zh = 算子（含通信）在 { $busy } 的时间内运行；仅 { $few } 个请求时 { $then }

whatever-load =
    .en = { $share }, whatever the load
    .zh = { $share }，与负载无关

no-rank-holds-experts-of =
    .en = no rank holds experts of its own
    .zh = 专家沿 TP 切分，各 rank 都有一份切片

at-most =
    .en = at most { $share }
    .zh = 至多 { $share }

symptom-cause =
    .en = symptom → cause
    .zh = 症状 → 原因

sign-with-nothing-wrong =
    .en = reading with nothing wrong
    .zh = 正常时的取值

what-tells-it =
    .en = what shows the cause
    .zh = 能指明原因的指标

remedies-of-s1-tried =
    .en = Remedies of S1, tried
    .zh = S1 的处置，逐条试算

remedy =
    .en = remedy
    .zh = 处置

tried =
    .en = tried
    .zh = 试算

outcome =
    .en = outcome
    .zh = 结果

so-it =
    .en = conclusion
    .zh = 结论
