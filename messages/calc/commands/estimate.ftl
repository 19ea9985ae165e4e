### ``estimate``: whether a deployment fits, its latency, throughput and what binds them.

# number: an example
help-set =
    .en = override, e.g. parallelism.tensor_parallel=16, device=nvidia-h20 or mechanisms.prefix_hit_share=0.3
    .zh = 覆盖取值，例如 parallelism.tensor_parallel=16、device=nvidia-h20 或 mechanisms.prefix_hit_share=0.3

# number: an example
help-engines =
    .en = the same under two engines and more, side by side: what differs, and which mechanism makes it; e.g. vllm@0.11,sglang@0.5.6
    .zh = 同一部署在两种或更多引擎下并列比较：差在哪里、由哪个机制造成；例如 vllm@0.11,sglang@0.5.6

help-calibration =
    .en = take what was fitted: an entry of params/calibrations/
    .zh = 采用已拟合的结果：params/calibrations/ 中的一项

help-alternatives =
    .en = search the same cards for the best deployments (default: only if the deployment does not run)
    .zh = 在同样的卡上搜索最优部署（默认：仅在部署无法运行时）

neither =
    .en = --engines: compares predictions, expected no --calibration beside it.
    .zh = --engines：比较的是预测，不能与 --calibration 同用。

verdict =
    .en = { $title }: { $verdict ->
        [fits] fits
        [short] does not fit
       *[other] does not run as asked
    }, { $spare } per device { $left ->
        [yes] to spare
       *[no] short
    }, every request at its longest ({ $tokens } tokens).
    .zh = { $title }：{ $verdict ->
        [fits] 装得下
        [short] 装不下
       *[other] 无法照此运行
    }，每卡{ $left ->
        [yes] 余
       *[no] 缺
    } { $spare }（每个请求都按最长 { $tokens } token 计）。

queue =
    .en = The cache holds { $served } requests at once; the other { $waiting } wait for a place{ $steady ->
        [yes] , { $wait } each in the steady state
       *[no] { "" }
    }. Times are those of a deployment that runs so.
    .zh = 缓存同时容纳 { $served } 个请求，其余 { $waiting } 个排队等待空位{ $steady ->
        [yes] ，稳态下每个等 { $wait }
       *[no] { "" }
    }；各项时间均按此计。

fits-in =
    .en = Over the ranges of all inputs it fits in { $share } of the draws.
    .zh = 在全部输入的取值范围内抽样，{ $share } 的样本装得下。

load =
    .en = { $load ->
        [steady] users see (steady state)
        [burst] all at once (burst)
       *[bench] mean of the benchmark
    }
    .zh = { $load ->
        [steady] 用户所见（稳态）
        [burst] 同时到达（突发）
       *[bench] 压测均值
    }

kind-of-value =
    .en = { $kind ->
        [exact] exact
        [estimate] estimate
        [lower_bound] lower bound
       *[upper_bound] upper bound
    }
    .zh = { $kind ->
        [exact] 精确
        [estimate] 估计
        [lower_bound] 下限
       *[upper_bound] 上限
    }

engine =
    .en = Engine: { $engine }.
    .zh = 引擎：{ $engine }。

engines-between =
    .en = No engine named: values between those of { $engines }.
    .zh = 未指定引擎：取值介于 { $engines } 之间。

no-engine =
    .en = No engine named.
    .zh = 未指定引擎。

on-the-same-cards =
    .en = On the same cards, of { $tried } deployments that were tried:
    .zh = 同样的卡上，已尝试 { $tried } 种部署：

which-best =
    .en = { "  " }best { $which ->
        [own] in its precision
        [any] in any
       *[official] in the published weights
    }
    .zh = { "  " }{ $which ->
        [own] 原精度
        [any] 任意精度
       *[official] 官方发布的权重
    }最优

none-fits =
    .en = { $best }: none fits.
    .zh = { $best }：都装不下。

best-is =
    .en = { $best } ({ $precision }): { $rate }{ $prompts ->
        [yes] { " " }of prompts
       *[no] , a token every { $pace }
    }; { $settings }
    .zh = { $best }（{ $precision }）：{ $prompts ->
        [yes] prompt 吞吐 { $rate }
       *[no] { $rate }，每 token { $pace }
    }；{ $settings }

two-pools =
    .en = Two pools, { $prefill } cards that prefill and { $decode } that decode, requests of { $prompt } and { $answer } tokens.
    .zh = 两个池：{ $prefill } 张卡做预填充，{ $decode } 张卡做解码，每请求输入 { $prompt } token、输出 { $answer } token。

pool-rate =
    .en = { $pool ->
        [transfer] transfers deliver
        [prefill] prefill finishes
       *[decode] decode finishes
    } { $rate }
    .zh = { $pool ->
        [transfer] 传输
        [prefill] 预填充
       *[decode] 解码
    } { $rate }

pool-binds =
    .en = { $rates }: { $pool } binds, { $rate }.
    .zh = { $rates }；瓶颈是{ $pool ->
        [transfer] 传输
        [prefill] 预填充
       *[decode] 解码
    }，{ $rate }。

in-balance =
    .en = In balance { $best } of { $devices } cards prefill: { $rate }; of whole groups { $first } and { $second }: { $whole }.
    .zh = 平衡时 { $devices } 张卡中有 { $best } 张做预填充：{ $rate }；按整组为 { $first } 组与 { $second } 组：{ $whole }。

decoding =
    .en = Of the requests in flight { $decoding } decode, { $prefilling } are in the prefill pool or on their way.
    .zh = 在途请求中 { $decoding } 个在解码，{ $prefilling } 个在预填充池或传输途中。

whole =
    .en = { $title }: { $cards } cards in two pools, { $fits ->
        [yes] each of which fits
       *[no] which do not both run as asked
    }.
    .zh = { $title }：{ $cards } 张卡分为两个池，{ $fits ->
        [yes] 两池都装得下
       *[no] 并非两池都能照此运行
    }。

users-see =
    .en = Users see, { $burst ->
        [yes] in the burst
       *[no] in a steady state
    } of { $flying } requests in flight: TTFT { $first }, TPOT { $each }, { $rate }.
    .zh = 用户所见（{ $burst ->
        [yes] 突发
       *[no] 稳态
    }，在途 { $flying } 个请求）：TTFT { $first }，TPOT { $each }，{ $rate }。

calibration-of-pools =
    .en = a calibration is of one pool, expected one of the two of { $scenario }.
    .zh = 校准只对应一个池，应指明 { $scenario } 的两个池之一。

burst =
    .en = Burst: { $count } requests arrive at once.
    .zh = 突发：{ $count } 个请求同时到达。

no-steady-state =
    .en = Steady state: there is none, { $rate } is more than { $count } requests in flight let out; the queue grows without end.
    .zh = 稳态：不存在，{ $rate } 超过 { $count } 个在途请求的完成速率，队列将无限增长。

independent-arrivals =
    .en = independent arrivals, { $rate }
    .zh = 请求独立到达，{ $rate }

users-ask-again =
    .en = { $users } users who each ask again { $thinks ->
        [yes] { $after } after
       *[no] right after
    } the answer
    .zh = { $users } 个用户，各在得到回答{ $thinks ->
        [yes] { " " }{ $after } 后
       *[no] 后立即
    }再次提问

steady-state =
    .en = Steady state: { $asked }; { $flying } in flight.
    .zh = 稳态：{ $asked }；{ $flying } 个在途。

benchmark =
    .en = Benchmark: { $sent } requests, { $users } of them together at the beginning, each other one after an answer; { $equal ->
        [yes] all equally long.
       *[no] of lengths as stated.
    }
    .zh = 压测：共 { $sent } 个请求，开始时同时发出 { $users } 个，其余各在一个回答之后发出；{ $equal ->
        [yes] 长度全部相同。
       *[no] 长度如所述。
    }

arrivals-named =
    .en = The scenario's arrivals are those of { $burst ->
        [yes] the burst
       *[no] the steady state
    }.
    .zh = 场景的到达方式为{ $burst ->
        [yes] 突发
       *[no] 稳态
    }。

arrivals-not-named =
    .en = The scenario names no arrivals: the steady state is what its users see.
    .zh = 场景未给出到达方式：用户所见为稳态。

doubted =
    .en = The closed form of the steady state does not hold here: { $why }. It could not be simulated in a few seconds; `simulate` takes longer.
    .zh = 稳态的闭式在此不成立：{ $why }。几秒内仿真不完；可用 `simulate` 慢慢算。

simulated =
    .en = The closed form of the steady state does not hold here: { $why }. Its numbers are the means of { $requests } simulated requests, lengths { $listed ->
        [yes] as listed
       *[no] { $lengths }
    }.
    .zh = 稳态的闭式在此不成立：{ $why }。所列数值为 { $requests } 个仿真请求的均值，长度{ $listed ->
        [yes] 如所列
       *[no] ：{ $lengths }
    }。

often =
    .en = { $rare ->
        [yes] less than { $share }
       *[no] { $share }
    }
    .zh = { $rare ->
        [yes] 不到 { $share }
       *[no] { " " }{ $share }
    }

cache =
    .en = Cache in the steady state: requests take { $occupied } of its blocks on average, and more than there are in { $often } of the steps, where one waits or loses its blocks.
    .zh = 稳态下的 KV 缓存：请求平均占用 { $occupied } 的块；在{ $often } 的步中块不够用，会有请求等待或失去已占的块。

cache-suffices =
    .en = What is short is room for all requests at their longest at once; in the steady state the cache holds them, except in { $often } of the steps.
    .zh = 所缺的是全部请求同时达到最长时的空间；稳态下，除{ $often } 的步外，缓存都装得下。

nearest =
    .en = { $first ->
        [yes] Nearest:
       *[no] Or:
    } { $change }
    .zh = { $first ->
        [yes] 最近的可行方案：
       *[no] 或：
    }{ $change }

no-change =
    .en = No precision, cut or number of these cards was found that runs it.
    .zh = 没有找到能运行它的精度、切分或卡数。

calibrated =
    .en = Calibrated to { $metric } of { $scenario } ({ $name }).
    .zh = 已按 { $scenario } 的{ $metric }校准（{ $name }）。

outside =
    .en = Outside of what it was fitted to: { $quantity } { $value }, fitted at { $fitted }; the interval is wider for it.
    .zh = 超出校准范围：{ $quantity } { $value }，校准时为 { $fitted }；区间已相应加宽。

parts-of =
    .en = { $whole ->
        [tpot] time per output token{ $burst ->
            [yes] , all at once
           *[no] { "" }
        }
       *[prefill] a step of prefill
    }: { $total }{ $bound ->
        [yes] , bound by { $plain }
       *[no] { "" }
    }
    .zh = { $whole ->
        [tpot] 每输出 token 时间{ $burst ->
            [yes] （突发）
           *[no] { "" }
        }
       *[prefill] 一步预填充
    }：{ $total }{ $bound ->
        [yes] ，瓶颈是{ $resource ->
            [memory_bandwidth] 显存带宽
            [l2_bandwidth] L2 带宽
            [compute] 算力
            [communication] 通信
            [host] 主机
            [fixed_costs] 固定开销
           *[other] { $plain }
        }
       *[no] { "" }
    }

# only in .en: $plain
part-of-step =
    .en = { $plain }
    .zh = { $part ->
        [attention] 注意力投影
        [core] 注意力核心
        [index] 索引器打分
        [dense_mlp] 稠密 MLP
        [shared_expert] 共享专家
        [routed_expert] 路由专家
        [router] 路由器
        [head] 输出头
        [vector] 逐元素算子
        [dequantisation] 反量化
        [boundary] 算子间隔
        [offload] 主机侧专家
        [fetch] 专家权重搬运
        [all_reduce] all-reduce
        [exchange] 专家收发
        [pipeline] 流水线传输
        [context_exchange] 上下文交换
        [overlap] 重叠
        [single_token_path] 单 token 路径
        [host] 主机
        [host_gap] 步间空隙
        [draft] 投机
        [idle_ranks] 请求较少的 rank
        [stall] 被预填充阻塞
       *[other] { $plain }
    }

what-the-document-says =
    .en = what the document says
    .zh = 文档所写

its-formula-gives =
    .en = its formula gives
    .zh = 按其公式

derived-here =
    .en = derived here
    .zh = 本书推导
