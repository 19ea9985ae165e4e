### The strip at the top of every derivation: one request, chapter by chapter.

thread = 贯穿全书的一个请求
title = 一个请求：八张 H200 上的 R1（{ $engine }），输入 { $input }、输出 { $output } token
in-calculators = 在计算器中打开这个请求
parameters-held = 模型的参数
parameters-used = 每个 token 要乘的参数
share-used = 的参数参与一个 token 的计算，全部参数都占显存
weights = 八张卡中每张的权重
cache-of-prompt = 输入留下的 KV 缓存，每张卡一整份
cache-at-end = 最后一个 token 时的 KV 缓存
read-per-token = 每张卡为一个输出 token 读取的量
flops-of-prompt = 输入的计算量，全部卡合计
flops-of-token = 一个输出 token 的实际计算量，含只为填满整块的行
intensity = 解码时每读一字节的运算次数
ridge = FP8 下，每字节达到多少次运算才受限于算力
collectives = 每步的 all-reduce 次数
message = 每次每张卡的消息大小（一个 token）
sent-time = 它们与收集 logits 的时间，占一步 { $step }的 { $share }
prompt-step = 一步算完全部输入
token-step = 输出一个 token 的一步
floor = 下界，即权重与缓存各读一遍，占一步的 { $share }
alone = 单独运行时的速度
together = 设置不变（{ $engine }，不投机），按标准负载（平均输入 { $prompt }、输出 { $answer } token，长度不一）服务 { $users } 个用户时的合计；《监控》的输出较短、长度相同
places = 个这样的请求可同时放入缓存
ceiling = 单请求的上限：按算子能达到的带宽，只计读取
# number: the intervals of all answers
interval = 每 token 时间的 80% 区间
ttft = 首 token 延迟（TTFT）
tpot = 之后每 token（TPOT）
e2e = 到最后一个 token
joules = 其间八张卡的能耗
cents = { $cents } 美分
money = 独占八张自有卡的成本
