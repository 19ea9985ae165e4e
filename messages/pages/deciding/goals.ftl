### What the chapter on the choice of a deployment says of goals: the best, the sure, the published.

so-many-dies =
    .en = { $dies } { $dies ->
        [one] die
       *[other] dies
    }{ $brief ->
        [yes] {""}
       *[no] {" "}({ $cards } { $cards ->
            [one] card
           *[other] cards
        })
    }
    .zh = { $dies } die{ $brief ->
        [yes] {""}
       *[no] （{ $cards } 卡）
    }

power =
    .en = power
    .zh = 功率

most-tokens-per-card =
    .en = most tokens per card
    .zh = 每卡吞吐最高

most-tokens =
    .en = most tokens
    .zh = 吞吐最高

least-tpot =
    .en = least TPOT
    .zh = TPOT 最短

least-ttft =
    .en = least TTFT
    .zh = TTFT 最短

least-latency =
    .en = least latency
    .zh = 端到端延迟最短

fewest-cards =
    .en = fewest cards
    .zh = 卡数最少

least-cost-per-token =
    .en = least cost per token
    .zh = 每 token 成本最低

least-energy-per-token =
    .en = least energy per token
    .zh = 每 token 能耗最低

least-power =
    .en = least power
    .zh = 功率最低

longest-context =
    .en = longest context
    .zh = 上下文最长

prefill-pool =
    .en = the prefill pool
    .zh = 预填充池

decode-pool =
    .en = the decode pool
    .zh = 解码池

transfer-of-cache =
    .en = the transfer of the cache
    .zh = 缓存传输

number-of-drafts =
    .en = { $drafts } { $method ->
        [eagle3] EAGLE-3
        [dspark] DSpark
       *[own] MTP
    } { $drafts ->
        [one] token
       *[other] tokens
    }
    .zh = { $method ->
        [eagle3] EAGLE-3
        [dspark] DSpark
       *[own] MTP
    } 投机 { $drafts } 个 token

prompts-dealt =
    .en = prefill CP
    .zh = 预填充 CP

two-micro-batches =
    .en = two micro-batches (TBO/DBO)
    .zh = 双 micro-batch

limit =
    .en = { $name } { $sign } { $limit }
    .zh = { $name } { $sign } { $limit }

lengths-and-best =
    .en = { $taken } tokens in, { $given } out; best: { $best }{ $drawn ->
        [yes] {" "}in { $share } of draws
       *[no] {""}
    }{ $more ->
        [yes] , then { $then }
       *[no] {""}
    }
    .zh = 输入 { $taken }、输出 { $given } token；最优：{ $drawn ->
        [yes] { $share } 抽样可达的{ $best }
       *[no] { $best }
    }{ $more ->
        [yes] ，其次{ $then }
       *[no] {""}
    }

headed =
    .en = **{ $first }{ $title }** · { $told }
    .zh = **{ $first }{ $title }** · { $told }

which =
    .en = which
    .zh = 方案

# number: the intervals of all answers
time-per-token-first-token =
    .en = time per token, first token (80%)
    .zh = 每 token 时间、首 token（80%）

# number: the intervals of all answers
per-card-and-cost =
    .en = throughput per card; { $currency } per 10⁶ output tokens at full load (80%)
    .zh = 每卡吞吐；满载时每 10⁶ 输出 token 成本，{ $currency }（80%）

nearest-limit-what-binds =
    .en = bottleneck; limits kept
    .zh = 瓶颈；达标比例

no-goal-here-has-limits =
    .en = No goal here has limits of which to be sure.
    .zh = 此处的目标没有需要把握的限制。

none =
    .en = none
    .zh = 没有

asked-of-draws =
    .en = draws required
    .zh = 要求的达标比例

most-drawn =
    .en = The { $drawn } best deployments of the front were drawn.
    .zh = 对前沿上最优的 { $drawn } 个部署抽样。

all-kept-in-of-draws =
    .en = all kept in { $kept } of draws
    .zh = { $kept } 的抽样中全部满足

nothing-is-so-sure-surest =
    .en = **nothing is so sure**; the surest
    .zh = **没有这么稳妥的**；把握最大的

best =
    .en = best
    .zh = 最优

plainest-of-alike =
    .en = the plainest of { $count } layouts that draws cannot tell apart
    .zh = 抽样分不出高下的 { $count } 种布局中最简单的

best-that-is-sure =
    .en = robust best
    .zh = 稳妥方案

best-in-published-weights =
    .en = best, in published weights
    .zh = 最优，即官方权重

none-are-known-of-this =
    .en = none are known of this model
    .zh = 该模型没有已知的官方权重

nothing-meets-goal =
    .en = `{ $weights }`: nothing meets the goal
    .zh = `{ $weights }`：没有满足目标的部署

not-asked-for =
    .en = `{ $weights }`: not asked for
    .zh = `{ $weights }`：不在目标的精度之列

these-cards-do-not-multiply =
    .en = `{ $weights }`: these cards do not support it
    .zh = `{ $weights }`：这些卡不支持

nothing-keeps-it-simulated-first =
    .en = **nothing keeps it simulated**; first
    .zh = **仿真中无一满足约束**；第一个

simulated =
    .en = simulated: { $seen }
    .zh = 仿真：{ $seen }

nothing-was-measured-of-its =
    .en = nothing was measured of its kind
    .zh = 没有同类的实测

inside-of-what-was-measured =
    .en = within the measured range ({ $nearest })
    .zh = 在实测范围之内（{ $nearest }）

outside-of-what-was-measured =
    .en = outside the measured range: { $outside }
    .zh = 超出实测范围：{ $outside }

no-release-starts-it =
    .en = **no release starts it**
    .zh = **没有引擎版本能启动**

starts-under-kernel =
    .en = starts under `{ $engine }`; kernel: { $kernels }
    .zh = 可用 `{ $engine }` 启动，算子：{ $kernels }

nothing-can-be-laid-out =
    .en = nothing can be laid out
    .zh = 没有可行的切分

nothing-meets-it-nearest =
    .en = **nothing meets it**; nearest
    .zh = **无解**；最接近的

short-of-memory =
    .en = { $short } of memory short on a card
    .zh = 每卡显存差 { $short }

times-asked-for =
    .en = { $name } { $seen }, { $too_little ->
        [yes] 1/{ $times } of
       *[no] { $times } times
    } the { $wanted } asked for
    .zh = { $name } { $seen }，{ $too_little ->
        [yes] 只有要求的 { $wanted } 的 1/{ $times }
       *[no] 是要求的 { $wanted } 的 { $times } 倍
    }

memory-share =
    .en = { $share } of the memory
    .zh = 显存上限 { $share }
