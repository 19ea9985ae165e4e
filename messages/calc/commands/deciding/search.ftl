### ``search``: from a goal to every deployment that meets it, the best, and why not others.

help-goal =
    .en = identifier or path of a goal file
    .zh = 目标文件的标识或路径

# number: an example
help-set =
    .en = override, e.g. limits.tpot=50ms, cards.most=64, precisions=fp8-block,w8a8-int8
    .zh = 覆盖取值，例如 limits.tpot=50ms、cards.most=64、precisions=fp8-block,w8a8-int8

help-same-as-set =
    .en = the same as --set { $key }=VALUE
    .zh = 等同于 --set { $key }=VALUE

help-any-engine =
    .en = also what no engine runs
    .zh = 也包括没有引擎能运行的

help-any-format =
    .en = also formats in which no checkpoint is published
    .zh = 也包括没有公开权重的格式

help-out =
    .en = write the scenario file of every deployment that is told
    .zh = 把所列每个部署的场景文件写入该目录

help-workers =
    .en = processes that share the work; the answer is the same
    .zh = 分担计算的进程数；答案不变

# number: the least
workers =
    .en = --workers { $count }: expected at least 1.
    .zh = --workers { $count }：至少应为 1。

another-file =
    .en = { $path }: there is another file of this name, expected a new folder.
    .zh = { $path }：已有同名的其他文件，应换一个新目录。

title =
    .en = { $title }{ $limited ->
        [yes] ; limits: { $limits }
       *[no] { "" }
    }; best: { $best }
    .zh = { $title }{ $limited ->
        [yes] ；约束：{ $limits }
       *[no] { "" }
    }；目标：{ $best }

limit =
    .en = { $quantity } { $at ->
        [mean] { $value }
       *[other] { $at } { $value }
    }
    .zh = { $quantity } { $at ->
        [mean] { $value }
       *[other] { $at } { $value }
    }

two-pools =
    .en = Two pools: { $prefill } that prefill and { $decode } that decode fit; their cards allow { $compared } pairs.
    .zh = 两个池：装得下的预填充池 { $prefill } 种、解码池 { $decode } 种，卡数允许的组合有 { $compared } 对。

# number: an example
no-price =
    .en = No price: { $devices }; state one in the goal: devices: [{ "{" }device: NAME, price: 1.5..2.5 USD/h{ "}" }].
    .zh = 没有价格：{ $devices }；可在目标中给出：devices: [{ "{" }device: NAME, price: 1.5..2.5 USD/h{ "}" }]。

wrote =
    .en = wrote { $path }
    .zh = 已写入 { $path }

part =
    .en = { $name ->
        [users] users see
        [runs] runs
        [costs] costs
        [limited] limited by
        [cache] cache
        [evidence] evidence
       *[start] start
    }
    .zh = { $name ->
        [users] 用户所见
        [runs] 运行
        [costs] 成本
        [limited] 瓶颈
        [cache] 缓存
        [evidence] 依据
       *[start] 启动
    }

of-all-and-card =
    .en = { $whole }, { $card } per card
    .zh = { $whole }，每卡 { $card }

router =
    .en = { $count ->
        [one] Row
       *[other] Rows
    } { $rows }: each replica and DP rank has a cache of its own; prefix hits need a session to return to its own: deploy writes a router that does (HAProxy, by the header X-Session-ID of requests).
    .zh = 第 { $rows } 行：各副本与 DP rank 的缓存独立，前缀命中需要会话回到原处：deploy 会写出这样的路由（HAProxy，按请求头 X-Session-ID）。

limited-by =
    .en = { $resource ->
        [memory_bandwidth] reading memory
        [l2_bandwidth] reading the L2 cache
        [compute] computing
        [communication] links between cards
        [host] the host
       *[overhead] starting kernels
    } ({ $share } of a decode step){ $near ->
        [yes] ; { $quantity } near its limit
       *[no] { "" }
    }; fullest card: { $weights } weights + { $cache } cache + { $besides } rest = { $whole } of { $capacity }
    .zh = { $resource ->
        [memory_bandwidth] 读显存
        [l2_bandwidth] 读 L2 缓存
        [compute] 计算
        [communication] 卡间链路
        [host] 主机
       *[overhead] 启动 kernel
    }（占解码步 { $share }）{ $near ->
        [yes] ；{ $quantity }接近上限
       *[no] { "" }
    }；最满的卡：权重 { $weights } + 缓存 { $cache } + 其余 { $besides } = { $whole }，共 { $capacity }

keeps =
    .en = : keeps all limits in { $share } of draws{ $below ->
        [yes] { " " }({ $later })
       *[no] { "" }
    }
    .zh = ：{ $share } 的样本满足全部约束{ $below ->
        [yes] （{ $later }）
       *[no] { "" }
    }

at-percentile =
    .en = { $at ->
        [mean] simulated
       *[other] { $at }
    } { $value }
    .zh = { $at ->
        [mean] 仿真
       *[other] { $at }
    } { $value }

later =
    .en = { $why ->
        [seldom] less often than the first
        [plainer] better by less than { $share } for each thing that it does besides
       *[alike] not told apart from the first, which is better in another objective or surer
    }
    .zh = { $why ->
        [seldom] 把握小于首位
        [plainer] 每多一项机制收益不足 { $share }
       *[alike] 与首位无法区分，首位在其他目标上更好或把握更大
    }

weakest =
    .en = Row { $number } breaks { $quantity }{ $at ->
        [mean] { "" }
       *[other] { " " }{ $at }
    } most often, in { $share } of draws.{ " " }
    .zh = 第 { $number } 行最常超出的是 { $quantity }{ $at ->
        [mean] { "" }
       *[other] { " " }{ $at }
    }（{ $share } 的样本）。

surer =
    .en = To be surer: { $ways }.
    .zh = 要更有把握：{ $ways }。

surer-limit =
    .en = { $quantity } { $at ->
        [mean] mean
       *[other] { $at }
    } limit { $value }: { $share } of draws
    .zh = { $quantity } { $at ->
        [mean] 均值
       *[other] { $at }
    } 放宽到 { $value }：{ $share } 的样本

surer-row =
    .en = row { $number }: { $share } of draws
    .zh = 第 { $number } 行：{ $share } 的样本

none-sure =
    .en = Nothing here keeps its limits in { $share } of draws; --sure { $sure } and more cards look further.
    .zh = 所列各项均不能在 { $share } 的样本中满足约束；可用 --sure { $sure } 或增加卡数继续查找。

signs =
    .en = Signs:{ " " }
    .zh = 符号：

rejected =
    .en = Rejected:{ " " }
    .zh = 未入选：

rejected-format =
    .en = { $precision } { $why ->
        [limit] { $quantity } { $value } at best (limit { $limit })
        [memory] is { $short } short of memory at best
        [start] is started by no release ({ $cause })
        [seldom] { $quantity } { $value } with { $layout } on { $devices } cards, limits kept in { $share }
        [unscored] { $quantity } { $value } with { $layout }, gains too little for an unscored format or more mechanisms
       *[worse] { $quantity } { $value } with { $layout } on { $devices } cards
    }
    .zh = { $precision } { $why ->
        [limit] { $quantity } 最好 { $value }（上限 { $limit }）
        [memory] 显存至少缺 { $short }
        [start] 没有版本能启动（{ $cause }）
        [seldom] { $quantity } { $value }（{ $devices } 卡，{ $layout }），{ $share } 的样本满足约束
        [unscored] { $quantity } { $value }（{ $layout }），收益不足以抵偿无公开分数的格式或更多机制
       *[worse] { $quantity } { $value }（{ $devices } 卡，{ $layout }）
    }

refused =
    .en = { $count ->
        [one] One kind is left out, which no release starts or which cannot keep up:
       *[other] { $count } kinds are left out, which no release starts or which cannot keep up, such as
    }{ " " }
    .zh = 已排除 { $count } 种没有版本能启动或跟不上请求的部署，如{ " " }

missed =
    .en = Left out after simulation: { $count } that { $count ->
        [one] breaks
       *[other] break
    } a limit.
    .zh = 仿真后排除：{ $count } 个不满足约束。

pool-binds =
    .en = { $pool ->
        [prefill] prefill
        [decode] decode
       *[transfer] transfer
    } binds; closed loop of { $users } users
    .zh = 瓶颈是{ $pool ->
        [prefill] 预填充
        [decode] 解码
       *[transfer] 传输
    }；{ $users } 个用户的闭环

nothing-starts =
    .en = Nothing that meets the goal is started by a release of an engine and keeps up. The first: { $label }: { $why }. --any-engine tells it all the same.
    .zh = 满足目标的部署没有一个能由引擎的某个版本启动并跟上请求。第一个：{ $label }：{ $why }。--any-engine 仍会列出。

nothing-keeps =
    .en = Nothing keeps its limits in a simulation; { $count } were simulated that do in the mean of the closed form. The first: { $label }: { $seen }.
    .zh = 仿真中没有一个满足约束；按闭式均值满足约束的 { $count } 个已仿真。第一个：{ $label }：{ $seen }。

seen-over =
    .en = { $quantity } { $at ->
        [mean] mean
       *[other] { $at }
    } { $value }, the limit is { $limit }
    .zh = { $quantity } { $at ->
        [mean] 均值
       *[other] { $at }
    } { $value }，上限为 { $limit }

nothing-so-sure =
    .en = Nothing keeps its limits in { $share } of draws. The surest: { $label }: { $keeps }.
    .zh = 没有一个在 { $share } 的样本中满足约束。把握最大的：{ $label }：{ $keeps }。

cannot-be-laid-out =
    .en = Nothing that the goal allows can be laid out: { $why }.
    .zh = 目标所允许的范围内没有可行的切分：{ $why }。

nearest-miss =
    .en = Nothing meets the goal. Nearest: { $sentence }.
    .zh = 没有部署满足目标。最接近的：{ $sentence }。

way-out =
    .en = A way out: { $what ->
        [cards] up to { $cards } cards
       *[format] another format
    }: { $label }: { $seen }.
    .zh = 出路：{ $what ->
        [cards] 卡数放宽到 { $cards }
       *[format] 换一种格式
    }：{ $label }：{ $seen }。

became =
    .en = { $count } { $words }
    .zh = { $count } 个{ $words }

grid =
    .en = { " " }Of requests in flight { $numbers } numbers to a doubling.
    .zh = 并发数每翻一倍取 { $numbers } 个值。

funnel =
    .en = Of { $tried } deployments, all of them tried: { $parts }.{ $grid } Not among them: experts on the host, cards of several kinds in one pool, spare experts other than space.spares lists.
    .zh = 共 { $tried } 个部署，全部试过：{ $parts }。{ $grid }未包括：专家放在主机侧、一个池中混用多种卡、space.spares 所列以外的冗余专家。

trying =
    .en = { $pools ->
        [one] cards and precisions in one pool
       *[two] cards and precisions in two pools
    }
    .zh = { $pools ->
        [one] 单池：卡型与精度
       *[two] 双池：卡型与精度
    }

ranking =
    .en = drawing and simulating the best, asking which releases start them
    .zh = 对最优部署抽样、仿真，并核对可启动的引擎版本

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

head =
    .en = { $name ->
        [throughput_per_card] throughput per card
        [throughput] throughput
        [ttft] TTFT
        [tpot] TPOT
        [e2e] latency
        [cost] cost per million output tokens
        [cards] cards
        [power] power
        [energy] energy
        [longest_context] longest context
        [memory_capacity] the memory
       *[other] { $name }
    }
    .zh = { $name ->
        [throughput_per_card] 每卡吞吐
        [throughput] 吞吐
        [ttft] TTFT
        [tpot] TPOT
        [e2e] 端到端延迟
        [cost] 每百万输出 token 成本
        [cards] 卡数
        [power] 功率
        [energy] 能耗
        [longest_context] 最长上下文
        [memory_capacity] 显存
       *[other] { $name }
    }

cost =
    .en = cost
    .zh = 成本

cost-is =
    .en = cost { $cost } per million output tokens
    .zh = 每百万输出 token 成本 { $cost }

agent-cost =
    .en = { $processed } per million processed tokens (input and output), { $task } a task of { $turns ->
        [one] one turn
       *[other] { $turns } turns
    }
    .zh = 每百万处理 token（输入与输出）{ $processed }，每个任务（{ $turns } 轮）{ $task }

row-of-two-pools =
    .en = { $cards }: prefill { $prefill }; decode { $decode }, { $requests } in flight
    .zh = { $cards }：预填充 { $prefill }；解码 { $decode }，并发 { $requests }

pools-alike =
    .en = { $first } + { $then } × { $on } in two pools
    .zh = { $first } + { $then } × { $on }，分两个池

pools-apart =
    .en = { $devices } cards in two pools
    .zh = { $devices } 张卡分两个池

one-pool =
    .en = { $pool }, { $requests } in flight
    .zh = { $pool }，并发 { $requests }

brief-pool =
    .en = { $devices } × { $on }, { $own }
    .zh = { $devices } × { $on }，{ $own }

brief-cards =
    .en = { $device }{ $named ->
        [yes] { " " }under { $engine }
       *[no] { "" }
    }, { $precision }
    .zh = { $device }{ $named ->
        [yes] ，{ $engine }
       *[no] { "" }
    }，{ $precision }

own =
    .en = { $layout }{ $chunked ->
        [yes] , chunks of { $chunk }
       *[no] { "" }
    }{ $steps }
    .zh = { $layout }{ $chunked ->
        [yes] ，分块 { $chunk }
       *[no] { "" }
    }{ $steps }

steps =
    .en = { $drafting ->
        [yes] , { $drafts } { $method ->
            [eagle3] { $one ->
                [yes] EAGLE-3 draft
               *[no] EAGLE-3 drafts
            }
            [dspark] { $one ->
                [yes] DSpark draft
               *[no] DSpark drafts
            }
           *[own] { $one ->
                [yes] MTP token
               *[no] MTP tokens
            }
        }
       *[no] { "" }
    }{ $dealt ->
        [yes] , prefill CP
       *[no] { "" }
    }{ $halves ->
        [yes] , two micro-batches
       *[no] { "" }
    }{ $hosted ->
        [yes] , host cache { $size } GB a server
       *[no] { "" }
    }
    .zh = { $drafting ->
        [yes] ，{ $method ->
            [eagle3] EAGLE-3
            [dspark] DSpark
           *[own] MTP
        } 投机 { $drafts }
       *[no] { "" }
    }{ $dealt ->
        [yes] ，预填充 CP
       *[no] { "" }
    }{ $halves ->
        [yes] ，双 micro-batch 交替
       *[no] { "" }
    }{ $hosted ->
        [yes] ，主机缓存每台 { $size } GB
       *[no] { "" }
    }

none-starts =
    .en = no release starts it: { $why }
    .zh = 没有版本能启动它：{ $why }

kernels-and-checkpoints =
    .en = { $first ->
        [yes] { $part ->
            [kernel] kernel
           *[checkpoint] checkpoint
        }{ " " }
       *[no] { "" }
    }{ $name }
    .zh = { $first ->
        [yes] { $part ->
            [kernel] 算子
           *[checkpoint] 权重仓库
        }{ " " }
       *[no] { "" }
    }{ $name }

none-runs =
    .en = NO ENGINE RUNS IT: { $why }
    .zh = 没有引擎能运行它：{ $why }

nothing-near =
    .en = nothing was measured of its kind
    .zh = 同类系统没有实测

outside-of =
    .en = { $axis } { $value }{ $named ->
        [yes] { "" }
       *[no] { " " }(measured { $ends })
    }
    .zh = { $axis } { $value }{ $named ->
        [yes] { "" }
       *[no] （实测 { $ends }）
    }

near =
    .en = nearest measured: { $nearest }{ $other ->
        [yes] { " " }(another model, { $model })
       *[no] { "" }
    }; { $beyond ->
        [yes] outside: { $outside }
       *[no] load, layout, drafts, format and card are within what was measured
    }
    .zh = 最近的实测：{ $nearest }{ $other ->
        [yes] （其他模型：{ $model }）
       *[no] { "" }
    }；{ $beyond ->
        [yes] 超出实测：{ $outside }
       *[no] 负载、切分、投机、格式与卡型均在实测范围内
    }

short =
    .en = { $label }: { $short } per device short
    .zh = { $label }：每卡缺 { $short }

over-a-limit =
    .en = { $label }: { $quantity } { $value }{ $priced ->
        [yes] { " " }{ $currency }
       *[no] { "" }
    }, the limit is { $limit }{ $priced ->
        [yes] { " " }{ $currency }
       *[no] { "" }
    }, off by a factor of { $factor }
    .zh = { $label }：{ $quantity } { $value }{ $priced ->
        [yes] { " " }{ $currency }
       *[no] { "" }
    }，上限为 { $limit }{ $priced ->
        [yes] { " " }{ $currency }
       *[no] { "" }
    }，相差 { $factor } 倍
