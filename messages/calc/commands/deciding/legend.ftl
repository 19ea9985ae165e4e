### The signs of a search's answer, explained: only those that occur.

# number: an example, and the intervals of all answers
sign =
    .en = { $name ->
        [tensor] TP: cards sharing each layer
        [data] DP: ranks with their own requests and cache
        [pipeline] PP: pipeline stages
        [context] DCP: cards sharing a request's cache
        [expert] EP: cards sharing the experts
        [spares] +n behind EP: redundant experts
        [chunk] chunk: prompt tokens per step of a DP rank
        [micro_batches] two micro-batches: one computes while the other exchanges
        [drafts] MTP tokens, drafts: tokens proposed per step
        [flight] in flight: requests at once, all cards
        [cost] cost: all charged to output tokens, cards always busy
        [draws] draws: samples of the uncertain inputs
       *[interval] (a–b): 80% interval
    }
    .zh = { $name ->
        [tensor] TP：共同计算每一层的卡数
        [data] DP：各有请求与缓存的 rank 数
        [pipeline] PP：流水线级数
        [context] DCP：分担单个请求缓存的卡数
        [expert] EP：分担专家的卡数
        [spares] EP 后 +n：冗余专家数
        [chunk] 分块：单个 DP rank 每步的 prompt token 数
        [micro_batches] 双 micro-batch：计算与通信交替
        [drafts] 投机（MTP、DSpark、EAGLE-3）：每步的投机 token 数
        [flight] 并发：全部卡上同时处理的请求数
        [cost] 成本：全计入输出 token，卡满载
        [draws] 样本：对全部不确定输入（含显存）的抽样
       *[interval] （a–b）：80% 区间
    }
