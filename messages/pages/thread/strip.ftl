### The strip at the top of every derivation: one request, chapter by chapter.

thread =
    .en = One request through the book
    .zh = 贯穿全书的一个请求

title =
    .en = One request: R1 on eight H200 under { $engine }, { $input } tokens in, { $output } out
    .zh = 一个请求：八张 H200 上的 R1（{ $engine }），输入 { $input }、输出 { $output } token

in-calculators =
    .en = The same request in the calculators
    .zh = 在计算器中打开这个请求

parameters-held =
    .en = parameters in the model
    .zh = 模型的参数

parameters-used =
    .en = of them used in computing a token
    .zh = 每个 token 要乘的参数

share-used =
    .en = of the model does the work for a token; all of it takes up memory
    .zh = 的参数参与一个 token 的计算，全部参数都占显存

weights =
    .en = weights on each of the eight cards
    .zh = 八张卡中每张的权重

cache-of-prompt =
    .en = KV cache of the prompt, on every card
    .zh = 输入留下的 KV 缓存，每张卡一整份

cache-at-end =
    .en = KV cache at the last token
    .zh = 最后一个 token 时的 KV 缓存

read-per-token =
    .en = read by each card for one output token
    .zh = 每张卡为一个输出 token 读取的量

flops-of-prompt =
    .en = for the prompt, all cards together
    .zh = 输入的计算量，全部卡合计

flops-of-token =
    .en = computed for one output token, padding rows of tiles included
    .zh = 一个输出 token 的实际计算量，含只为填满整块的行

intensity =
    .en = operations per byte read while decoding
    .zh = 解码时每读一字节的运算次数

ridge =
    .en = needed in FP8 before arithmetic, not memory, limits the card
    .zh = FP8 下，每字节达到多少次运算才受限于算力

collectives =
    .en = all-reduces per step
    .zh = 每步的 all-reduce 次数

message =
    .en = that a card contributes to each, for one token
    .zh = 每次每张卡的消息大小（一个 token）

sent-time =
    .en = spent in them and a gather of the logits, { $share } of a step of { $step }
    .zh = 它们与收集 logits 的时间，占一步 { $step }的 { $share }

prompt-step =
    .en = for the step that processes the whole prompt
    .zh = 一步算完全部输入

token-step =
    .en = for the step of one output token
    .zh = 输出一个 token 的一步

floor =
    .en = at least, to read weights and cache once: { $share } of the step
    .zh = 下界，即权重与缓存各读一遍，占一步的 { $share }

alone =
    .en = while it runs alone
    .zh = 单独运行时的速度

together =
    .en = for { $users } users of the book's standard load ({ $prompt } tokens in, { $answer } out on average, lengths that vary) with the same settings: { $engine }, no MTP; the chapter on monitoring has shorter answers, all alike
    .zh = 设置不变（{ $engine }，不投机），按标准负载（平均输入 { $prompt }、输出 { $answer } token，长度不一）服务 { $users } 个用户时的合计；《监控》的输出较短、长度相同

places =
    .en = such requests have room in the cache at once
    .zh = 个这样的请求可同时放入缓存

ceiling =
    .en = at most for one request, if reading at the bandwidth that kernels reach took all of the time
    .zh = 单请求的上限：按算子能达到的带宽，只计读取

# number: the intervals of all answers
interval =
    .en = 80% interval of the time per token
    .zh = 每 token 时间的 80% 区间

ttft =
    .en = to the first token (TTFT)
    .zh = 首 token 延迟（TTFT）

tpot =
    .en = per further token (TPOT)
    .zh = 之后每 token（TPOT）

e2e =
    .en = to the last token
    .zh = 到最后一个 token

joules =
    .en = drawn by the eight cards meanwhile
    .zh = 其间八张卡的能耗

cents =
    .en = { $cents } US cents
    .zh = { $cents } 美分

money =
    .en = for eight owned cards that serve nobody else meanwhile
    .zh = 独占八张自有卡的成本
