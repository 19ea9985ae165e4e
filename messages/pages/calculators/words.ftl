### What the calculators say, in both languages; places for values are in braces.

engine =
    .en = engine
    .zh = 推理引擎

tp =
    .en = tensor parallelism (TP)
    .zh = 张量并行（TP）

pp =
    .en = pipeline parallelism (PP)
    .zh = 流水线并行（PP）

dp =
    .en = data parallelism (DP)
    .zh = 数据并行（DP）

ep =
    .en = expert parallelism (EP)
    .zh = 专家并行（EP）

dcp =
    .en = ranks that share a request's cache (DCP)
    .zh = 分摊一个请求缓存的 rank 数（DCP）

shared-cache =
    .en = DCP { $dcp } needs as many copies of the cache of { $model } to shard; under TP { $tp } there are { $copies }.
    .zh = DCP { $dcp } 要求 { $model } 的缓存有同样多的副本可分摊，TP { $tp } 下只有 { $copies } 份。

input =
    .en = input tokens of a request
    .zh = 每请求输入 token

output =
    .en = output tokens of a request
    .zh = 每请求输出 token

drafts =
    .en = MTP tokens drafted per step
    .zh = 每步 MTP 投机 token

chunk =
    .en = prefill tokens of a step (chunk)
    .zh = 每步 prefill token（分块）

block =
    .en = tokens of a cache block
    .zh = KV 块大小（token）

share =
    .en = share of the memory that the engine may use, %
    .zh = 引擎可用显存占比，%

way =
    .en = price of a card
    .zh = 卡价

price =
    .en = your price, USD per card and hour
    .zh = 自定价格，美元/卡时

use =
    .en = utilisation (mean over full throughput), %
    .zh = 利用率（平均吞吐 ÷ 满载吞吐），%

more =
    .en = More settings
    .zh = 更多设置

computing =
    .en = Computing…
    .zh = 计算中……

so-many-dies =
    .en = { $count } dies
    .zh = { $count } die

cards =
    .en = { $cards } in { $nodes } × { $node }
    .zh = { $cards }，{ $nodes } × { $node }

own =
    .en = owned: { $value } USD/h
    .zh = 自有：{ $value } 美元/小时

rent-always =
    .en = rented for years: { $value } USD/h
    .zh = 长租：{ $value } 美元/小时

rent-by-hour =
    .en = rented by the hour: { $value } USD/h
    .zh = 按小时租：{ $value } 美元/小时

yours =
    .en = your own price
    .zh = 自定价格

link =
    .en = Copy link
    .zh = 复制链接

copied =
    .en = The link is copied.
    .zh = 链接已复制。

not-copied =
    .en = The address bar has the link.
    .zh = 链接在地址栏中。

download =
    .en = Download YAML
    .zh = 下载 YAML

load =
    .en = Load YAML
    .zh = 载入 YAML

loaded =
    .en = { $name } is loaded.
    .zh = 已载入 { $name }。

fits-short =
    .en = It fits: { $spare } to spare on the fullest card.
    .zh = 装得下：显存占用最大的卡还余 { $spare }。

fits-not-short =
    .en = It does not fit: the fullest card is { $spare } short of the { $usable } that an engine may use.
    .zh = 装不下：引擎可用 { $usable }，显存占用最大的卡还差 { $spare }。

tpot-row =
    .en = time per output token (TPOT)
    .zh = 每输出 token 时间（TPOT）

ttft-row =
    .en = time to first token (TTFT)
    .zh = 首 token 延迟（TTFT）

rate-row =
    .en = all cards together, token/s
    .zh = 全部卡合计，token/s

million-row =
    .en = a million output tokens, input included, USD
    .zh = 每百万输出 token（含输入），美元

plan =
    .en = Layout: { $cut } on { $cards }, the fastest of those that fit.
    .zh = 切分：{ $cards }，{ $cut }，装得下的切分中最快的一种。

no-cut =
    .en = No layout of { $cards } divides { $model }.
    .zh = { $cards }没有能整除 { $model } 的切分。

command =
    .en = The command that searches all layouts
    .zh = 搜索全部切分的命令

take-apart =
    .en = Take it apart: memory, time, cost
    .zh = 逐项拆解：显存、时间、成本

proof =
    .en = How it is derived
    .zh = 推导过程

# number: the intervals of all answers
fits =
    .en = It fits: { $spare } of { $usable } to spare on the fullest card (80%: { $range }). The cache has room for { $most } such requests at once (80%: { $mostRange }).
    .zh = 装得下：显存占用最大的卡在可用的 { $usable } 中余 { $spare }（80% 区间 { $range }）。KV 缓存最多容纳 { $most } 个这样的并发请求（80% 区间 { $mostRange }）。

# number: the intervals of all answers
fits-not =
    .en = It does not fit: the fullest card is { $short } short of the { $usable } that the engine may use (80% interval of what is left: { $range }).
    .zh = 装不下：引擎可用 { $usable }，显存占用最大的卡还差 { $short }（余量的 80% 区间 { $range }）。

cache-ends =
    .en = The weights fit, but the cache is exhausted at { $most } of the { $users } requests.
    .zh = 权重装得下，但 KV 缓存到第 { $most } 个请求就已用尽（共 { $users } 个）。

no-request =
    .en = Not even one request fits beside the weights.
    .zh = 除权重外，连一个请求也装不下。

memory-caption =
    .en = Memory of the fullest card. The line marks what the engine may use.
    .zh = 显存占用最大的卡的显存构成。竖线是引擎可用的上限。

copies =
    .en = copies, padding, drafting layer
    .zh = 副本、填充与预测层

cache =
    .en = KV cache, all requests at their mean full length
    .zh = KV 缓存（每请求按平均长度、输出结束时计）

buffers =
    .en = buffers of the exchange
    .zh = 专家通信缓冲

spare =
    .en = headroom
    .zh = 余量

over =
    .en = too much
    .zh = 超出

partly =
    .en = stage { $stage } of { $stages }
    .zh = 第 { $stage } 级，共 { $stages } 级

# number: the intervals of all answers
fast =
    .en = In a steady state a token every { $tpot } (80%: { $tpotRange }), the first after { $ttft } (80%: { $ttftRange }); all cards together { $rate } token/s (80%: { $rateRange }).
    .zh = 稳态下每输出 token { $tpot }（80% 区间 { $tpotRange }），首 token { $ttft }（80% 区间 { $ttftRange }）；全部卡合计 { $rate } token/s（80% 区间 { $rateRange }）。

# number: the intervals of all answers
fast-apart =
    .en = In a steady state a token every { $tpot } (80%: { $tpotRange }); all cards of this pool together { $rate } token/s (80%: { $rateRange }). Prompts have a pool of their own.
    .zh = 稳态下每输出 token { $tpot }（80% 区间 { $tpotRange }）；本池全部卡合计 { $rate } token/s（80% 区间 { $rateRange }）。预填充在另一个池中。

step-caption =
    .en = The time per output token of a burst, by part.
    .zh = 突发时每输出 token 时间的构成。

hides =
    .en = of this hidden by overlap: { $hidden }
    .zh = 其中被重叠掩盖：{ $hidden }

# number: the intervals of all answers
curve-caption =
    .en = Time per output token against requests at once in a steady state, and its lower bound. The dot is the deployment above with its 80% interval; beyond the vertical line the cache is exhausted.
    .zh = 稳态下每输出 token 时间随并发的变化及其下界。圆点为上方的部署及其 80% 区间；竖线右侧 KV 缓存已用尽。

floor =
    .en = lower bound
    .zh = 下界

# number: the intervals of all answers
costs =
    .en = A million output tokens cost { $output } USD (80%: { $outputRange }), a million prompt tokens { $input } USD (80%: { $inputRange }); a request { $request } USD.
    .zh = 每百万输出 token { $output } 美元（80% 区间 { $outputRange }），每百万输入 token { $input } 美元（80% 区间 { $inputRange }）；每请求 { $request } 美元。

no-price =
    .en = No source states this price of the card. Choose another way of having it, or enter your price.
    .zh = 没有这种方式的卡价来源。请另选一种，或填写自己的价格。

price-source =
    .en = Price of a card: { $value } USD/h ({ $range }), { $source }.
    .zh = 卡价 { $value } 美元/小时（{ $range }），来源：{ $source }。

your-price =
    .en = Price of a card: { $value } USD/h, yours.
    .zh = 卡价 { $value } 美元/小时，自定。

cost-caption =
    .en = Cost of a million output tokens against requests at once.
    .zh = 每百万输出 token 的成本随并发的变化。

per-output =
    .en = USD per million output tokens
    .zh = 美元/百万输出 token

roof =
    .en = Most of a { $phase } step's arithmetic and reading goes to: { $name }, at { $intensity } FLOP/B and { $reached } TFLOPS. The roof bends at { $ridge } FLOP/B.
    .zh = { $phase }步中耗时最长的算子：{ $name }，{ $intensity } FLOP/B，达到 { $reached } TFLOPS。屋顶线的脊点在 { $ridge } FLOP/B。

roof-caption =
    .en = Operations per byte of each operator, and what it reaches, below the roof of the card: memory bandwidth to the left, dense peak to the right.
    .zh = 各算子的计算强度与达到的算力，上方是卡的屋顶线：左侧受限于显存带宽，右侧受限于稠密峰值。

intensity =
    .en = intensity, FLOP/B
    .zh = 计算强度，FLOP/B

reached =
    .en = reached, TFLOPS
    .zh = 达到，TFLOPS

time =
    .en = time of a step
    .zh = 每步时间

also =
    .en = Also set, as the deployment has it:
    .zh = 另有设定（取自该部署）：

take-back =
    .en = take back: { $name }
    .zh = 取消设定：{ $name }

take-all-back =
    .en = Take all back
    .zh = 全部取消

bad-link =
    .en = The link cannot be read at '{ $text }'; the rest of it is taken.
    .zh = 链接在“{ $text }”处无法识别，其余部分照常采用。

unknown-key =
    .en = '{ $key }' is nothing that a calculator has.
    .zh = 计算器没有“{ $key }”这一项。

unknown-value =
    .en = '{ $text }' is none of the choices of { $key }.
    .zh = “{ $text }”不在 { $key } 的可选项中。

out-of-range =
    .en = '{ $text }' is out of range for { $key }, expected { $low } to { $high }.
    .zh = { $key } 的值“{ $text }”超出范围，应在 { $low } 到 { $high } 之间。

no-precision =
    .en = No engine has a kernel for { $precision } of this model on { $card }; choose another precision or card.
    .zh = { $card } 上没有此模型可用的 { $precision } 算子，请换一种精度或换卡。

no-engine =
    .en = { $engine } does not run on { $card }.
    .zh = { $engine } 不支持 { $card }。

too-long =
    .en = Requests of { $tokens } tokens are longer than the { $positions } positions of { $model }: shorten input and output to { $positions } together.
    .zh = 请求长 { $tokens } token，超过 { $model } 的 { $positions } 个位置：请将输入与输出合计缩短到 { $positions } 以内。

no-drafts =
    .en = { $model } has no MTP layer to draft tokens with.
    .zh = { $model } 没有 MTP 层，不能投机。

stages =
    .en = { $model } has { $layers } layers and cannot be split into { $pp } stages.
    .zh = { $model } 共 { $layers } 层，不能切成 { $pp } 级流水线。

experts =
    .en = EP { $ep } does not go with TP { $tp } × DP { $dp } for { $model } in { $precision }; EP may be { $list }.
    .zh = { $model }（{ $precision }）在 TP { $tp } × DP { $dp } 下不能用 EP { $ep }，可用的 EP：{ $list }。

tensor =
    .en = TP { $tp } does not divide { $model } in { $precision }; TP may be { $list }.
    .zh = TP { $tp } 不能整除 { $model }（{ $precision }），可用的 TP：{ $list }。

no-experts =
    .en = { $model } has no experts to copy; take the redundant experts back.
    .zh = { $model } 没有可冗余的专家，请取消冗余专家的设定。

# number: the degree at which ranks may have shared experts alone
none-apart =
    .en = { $apart } ranks for shared experts alone need a model with shared experts, TP 1 and the low-latency exchange.
    .zh = { $apart } 个只放共享专家的 rank 要求模型有共享专家、TP 为 1，且采用低延迟通信。

too-many =
    .en = More than { $most } further inputs are set, expected at most { $most }.
    .zh = 另设的输入超过 { $most } 项，最多 { $most } 项。

both-lengths =
    .en = The file states context_tokens beside input_tokens or output_tokens; the calculators take one or the other.
    .zh = 文件同时写了 context_tokens 与 input_tokens 或 output_tokens，计算器只接受其一。

kept =
    .en = The last picture that could be computed is shown.
    .zh = 仍显示上一个可以计算的结果。

# number: the largest file that the page reads
too-large =
    .en = The file is larger than 10 MB, expected a scenario file.
    .zh = 文件超过 10 MB，应为部署文件。

bad-line =
    .en = line { $line }: '{ $text }' cannot be read, expected 'key: value' as in the file that this page writes.
    .zh = 第 { $line } 行：“{ $text }”无法识别，应为本页所写文件的“键: 值”形式。

twice =
    .en = line { $line }: '{ $key }' stands twice.
    .zh = 第 { $line } 行：“{ $key }”重复。

other-key =
    .en = line { $line }: the calculators do not take '{ $key }'; `will-it-fit estimate` does.
    .zh = 第 { $line } 行：计算器不支持“{ $key }”，请用 `will-it-fit estimate`。

in-line =
    .en = line { $line }: { $sentence }
    .zh = 第 { $line } 行：{ $sentence }

missing =
    .en = The file lacks '{ $key }'.
    .zh = 文件缺少“{ $key }”。

other-cluster =
    .en = The cluster is another than the calculators have: expected { $nodes } × { $node } with { $devices } devices.
    .zh = 集群与计算器不符：应为 { $nodes } × { $node }，共 { $devices } 卡。

not-read =
    .en = The file could not be read.
    .zh = 文件无法读取。

vary =
    .en = variation of lengths (standard deviation over mean)
    .zh = 长度的变异系数（标准差/均值）

pace =
    .en = wanted time per token, ms
    .zh = 期望的每 token 时间，ms

drafted =
    .en = {" "}+ MTP { $drafts }
    .zh = {" "}+ MTP { $drafts }

take-it =
    .en = Take it
    .zh = 采用

is-fastest =
    .en = No layout of these cards is faster for these users.
    .zh = 对这些用户，这些卡没有更快的切分。

fastest =
    .en = The fastest layout of these { $cards }: { $layout }, { $pace } a token.
    .zh = 这 { $cards }最快的切分：{ $layout }，每 token { $pace }。

most-users =
    .en = Within { $pace } ms per token in { $sure } of draws, these { $cards } serve up to { $users } users ({ $layout }, median { $median }).
    .zh = { $sure } 的抽样每 token 不超过 { $pace } ms 时，这 { $cards }最多服务 { $users } 个用户（{ $layout }，中位数 { $median }）。

no-users =
    .en = These { $cards } serve nobody within { $pace } ms per token in { $sure } of draws.
    .zh = 这 { $cards }即使只有一个用户，也做不到 { $sure } 的抽样每 token 不超过 { $pace } ms。

fewest-cards =
    .en = For { $users } users within { $pace } ms per token in { $sure } of draws it takes { $cards } ({ $layout }, median { $median }).
    .zh = { $users } 个用户、{ $sure } 的抽样每 token 不超过 { $pace } ms，要 { $cards }（{ $layout }，中位数 { $median }）。

no-cards =
    .en = Even { $cards } do not serve { $users } users within { $pace } ms per token in { $sure } of draws.
    .zh = 即使 { $cards }，也做不到 { $users } 个用户、{ $sure } 的抽样每 token 不超过 { $pace } ms。

would-layout =
    .en = In another layout these { $cards } hold it: { $layout }, { $pace } a token.
    .zh = 这 { $cards }换一种切分就装得下：{ $layout }，每 token { $pace }。

would-users =
    .en = For { $users } users it fits: { $layout }, { $pace } a token.
    .zh = 减到 { $users } 个用户就装得下：{ $layout }，每 token { $pace }。

would-weights =
    .en = In { $precision } it fits: { $layout }, { $pace } a token.
    .zh = 改用 { $precision } 就装得下：{ $layout }，每 token { $pace }。

would-cards =
    .en = On { $cards } it fits: { $layout }, { $pace } a token.
    .zh = { $cards }装得下：{ $layout }，每 token { $pace }。

at-once =
    .en = all at once: { $value }
    .zh = 同时到达：{ $value }

not-started =
    .en = { $engine } starts no such layout: { $why }.
    .zh = { $engine } 无法启动这种切分：{ $why }。

why-servers =
    .en = servers of { $cards } cards do not fill nodes of { $server }
    .zh = { $cards } 张卡的服务排不满 { $server } 卡节点

why-divided =
    .en = no flag cuts experts on { $ep } of { $tp } ranks
    .zh = 没有参数能在 { $tp } 个 rank 上把专家分 { $ep } 组

why-wide =
    .en = replicas that share experts have one attention rank, not { $tp }
    .zh = 共享专家的副本只有一个注意力 rank，而非 { $tp } 个

why-spread =
    .en = replicas of { $replica } cards that share experts span nodes
    .zh = 共享专家的 { $replica } 卡副本跨节点

why-dealt =
    .en = it does not deal a cache over { $dcp } ranks here
    .zh = 此处不能把缓存分到 { $dcp } 个 rank

why-vocabulary =
    .en = { $tp } ranks do not divide the vocabulary of { $vocabulary }
    .zh = { $tp } 个 rank 不能整除词表 { $vocabulary }

paid =
    .en = Cards { $way }, { $price } USD/h each, { $use }% of the throughput used; the input tokens are in the price of the output tokens.
    .zh = { $way }卡价 { $price } 美元/卡时，吞吐利用率 { $use }%；输入 token 的成本已摊入输出 token。

yours-way =
    .en = priced by you
    .zh = 自定

own-way =
    .en = owned
    .zh = 自有

rent-always-way =
    .en = rented for years
    .zh = 长租

rent-by-hour-way =
    .en = rented by the hour
    .zh = 按小时租

no-price-short =
    .en = No source states an hourly price of this card: enter yours on the page of the calculators, under “What does it cost?”
    .zh = 没有来源给出这种卡的小时价：可在“计算器”页“要花多少钱？”一节填写自己的价格。

no-times =
    .en = It does not fit, so neither times nor costs are stated.
    .zh = 装不下，不给出时间和成本。

# number: the intervals of all answers
burst =
    .en = If all requests have mean lengths and arrive at once: a token every { $tpot } (80%: { $tpotRange }), the first after { $ttft } (80%: { $ttftRange }), { $rate } token/s (80%: { $rateRange }).
    .zh = 若请求均为平均长度且同时到达：每输出 token { $tpot }（80% 区间 { $tpotRange }），首 token { $ttft }（80% 区间 { $ttftRange }），合计 { $rate } token/s（80% 区间 { $rateRange }）。

# number: the intervals of all answers
burst-apart =
    .en = If all requests have mean lengths and arrive at once: a token every { $tpot } (80%: { $tpotRange }), { $rate } token/s (80%: { $rateRange }).
    .zh = 若请求均为平均长度且同时到达：每输出 token { $tpot }（80% 区间 { $tpotRange }），合计 { $rate } token/s（80% 区间 { $rateRange }）。

other-lengths =
    .en = Lengths vary in another way ('{ $kind }') than the calculators have: expected lognormal with a length_variation, or constant.
    .zh = 长度的变化方式“{ $kind }”与计算器不符，应为带 length_variation 的 lognormal，或 constant。
