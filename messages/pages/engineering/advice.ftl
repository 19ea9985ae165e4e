### What the documents recommend on precision, experts and pools, beside what follows of it.

size-in =
    .en = { $size } in { $name }
    .zh = { $name }：{ $size }

users-with-narrower =
    .en = { $cards } × { $card }, `{ $precision }`: { $wide }, with a quantised cache { $narrow }
    .zh = { $cards } × { $card }、`{ $precision }`，缓存不量化 { $wide }，量化 { $narrow }

quantised-cache =
    .en = All heads share one latent vector, so there are no heads to scale by. Per token: { $plain }, { $int8 } (on 910B in a decode pool only), { $fp8 }. Of these cards, only { $able } can compute attention on it in FP8. Users within { $limit } in a decode pool: { $users }.
    .zh = 所有头共用一个潜向量，没有可按头缩放的缓存。每 token { $plain }，{ $int8 }（910B 上只能用于解码池），{ $fp8 }。这几种卡中只有 { $able } 能以 FP8 计算。解码池中 { $limit } 以内的用户数：{ $users }。

wide-activations =
    .en = The published model also has eight-bit activations (`{ $published }`), and its scores include them. S2's two models also differ in the quantisation tool and in the weights that went into it. Gaps wide enough for their number of problems: { $shown } of { $count }. All sets are mathematics or code. Time per token on eight 910B1, { $users } users: { $awq_pace } in `{ $awq }`, { $w4a8_pace } in `{ $w4a8 }`.
    .zh = 官方模型的激活也是 8 比特（`{ $published }`），其分数即由此得出。两个模型的量化工具与权重也不同。{ $count } 项差距中，这些题数能分辨的只有 { $shown } 项；{ $count } 个评测集全是数学或代码。八张 910B1、{ $users } 个用户时每 token：`{ $awq }` { $awq_pace }，`{ $w4a8 }` { $w4a8_pace }。

int4-by-channel =
    .en = { $share } of the parameters are INT4, so they decide the accuracy, but no score is printed. To show a difference of one point at { $right } takes { $problems } problems: at S3's largest throughput and answer length, { $days } days.
    .zh = { $share } 的参数是 INT4，精度由这部分决定，而文档没有给出任何分数。得分在 { $right } 左右时，分辨一个百分点要 { $problems } 题；按其测试的输出长度与最大吞吐，要跑 { $days } 天。

times-of =
    .en = { $users ->
        [one] { $users } request
       *[other] { $users } requests
    } { $cut } and { $whole }
    .zh = { $users } 个请求 { $cut } 与 { $whole }

tensor-is-balanced =
    .en = Time per token of { $cards } 910B1 (central values, prompts between the steps), AWQ, no MTP, at the lengths of S2's own measurement, with TP{ $cards }, and with EP{ $cards } and the same attention parallelism: { $times }. With more requests the most loaded rank of EP{ $cards } goes from { $least } over the mean to { $most }. { $sent }
    .zh = { $cards } 张 910B1、AWQ、不用投机解码时的每 token 时间（中心值，步间穿插 prefill；前为 TP{ $cards }，后为注意力切分相同的 EP{ $cards }）：{ $times }。请求增多，EP{ $cards } 负载最高的 rank 超出平均的幅度由 { $least } 变为 { $most }。{ $sent }

sends-alike =
    .en = With { $users } requests communication takes { $time } per step in both.
    .zh = { $users } 个请求时，两者每步通信都是 { $time }。

sends-apart =
    .en = With { $users } requests communication takes { $cut } and { $whole } per step, respectively.
    .zh = { $users } 个请求时，每步通信分别为 { $cut } 与 { $whole }。

no-long-tail =
    .en = The tail comes from prefill, not from ranks: a prompt of { $tokens } tokens stalls all decoding requests for { $gap }; a step of { $users } requests without one takes { $step } (both central values). The document prints only means.
    .zh = 长尾来自 prefill，而不是 rank 间负载不均：一条 { $tokens } token 的 prompt 让所有解码中的请求停顿 { $gap }，而没有 prefill 穿插时，{ $users } 个请求的一步只要 { $step }（均为中心值）。文档只给出平均值。

deferred-experts =
    .en = Time per token of one request (central values): { $none } if none of the host's work overlaps with the cards, { $every } if all of it does; of { $many } requests { $none_many } and { $every_many }. A deferred result enters a later layer, which changes what the model computes; no score is printed with or without it.
    .zh = 单请求每 token（中心值）：主机与卡完全不重叠 { $none }，完全重叠 { $every }；{ $many } 个请求时为 { $none_many } 与 { $every_many }。主机侧专家的输出推迟到后面的层才并入，模型的计算结果因此改变；文档没有给出启用前后的精度分数。

cache-through-store =
    .en = The cache of { $tokens } tokens is { $size }, written to the store and read back. Below { $even }/s per request, computing the prompt again ({ $time } for one alone) is faster; from card to card it takes { $port }. At the { $printed } prompts/s that are printed, one store carries { $for_printed }/s; at the { $rate } of one server, { $for_rate }/s.
    .zh = { $tokens } token 的缓存有 { $size }，存、取各一次。每请求低于 { $even }/s 时，重做预填充（{ $time }）更快；卡到卡直传只要 { $port }。按文档的每秒 { $printed } 条，一个存储要承担 { $for_printed }/s；按一台服务器实际的 { $rate } 条，{ $for_rate }/s。

chunks-of-prefill-pool =
    .en = Prompts per second of one server, prompts of { $tokens }, by tokens per chunk: { $rates }. Nothing decodes there, so only memory calls for small chunks.
    .zh = 输入 { $tokens } token 时一台服务器每秒的条数，按每块 token 数：{ $rates }。预填充池里没有解码请求，除显存外没有理由用小块。

prefix-of-decode-pool =
    .en = The decode pool computes no prompts, so a hit saves only the transfer. In the prefill pool, hits on half of each prompt give { $times } times the prompts. A decode step has as many tokens as requests, { $users }, so the limit is never reached.
    .zh = 解码池不做预填充，命中只省传输。放在预填充池，每条命中一半，每秒条数为 { $times } 倍。解码每步的 token 数就是请求数，{ $users } 个，永远到不了这个上限。
