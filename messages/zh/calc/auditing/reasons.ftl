### Why a claim has its verdict, in a sentence or two of each language.

deployment-does-not-run =
    { $but ->
        [yes] 但文档的部署
       *[no] 文档的部署
    }无法运行：{ $why }
configuration-does-not-start =
    但支持该模型的各版本都无法以文档的整组设置启动，原因是其中的 { $names }{ $more ->
        [yes] { " " }等
       *[no] { "" }
    }。
others-say-otherwise =
    与论断 { $listed } { $more ->
        [yes] 等
       *[no] { "" }
    }相互矛盾。
rests-on = 前提：{ $assumption }
to = { $value }（{ $low } 至 { $high }）
right-is = { $found }应为 { $ours }。
a-source = 来源。
input-is-otherwise = { $input }应为 { $ours }，不是 { $theirs }
as-of = 另见同一数量的 { $claim }。
plan = { $cards }×{ $card }（{ $layout }，{ $format }，{ $users } 个用户）
short-of-memory = 单卡需要 { $needed }，可用 { $usable }。
figure =
    { $how ->
        [in-gib] { $found }为 { $gib } GiB，即 { $ours }；文档把 GiB 写成了 GB。
        [inside] { $found }为 { $ours }，在文档所写的 { $printed } 之内。
        [overlaps] { $found }为 { $ours }；文档的 { $printed } 与这一区间重叠，中值在区间内。
        [in-interval] { $found }为 { $ours }，文档的 { $printed } 落在这一区间内。
        [limit-in-interval] { $found }为 { $ours }，文档的限值 { $printed } 落在这一区间内，有可能满足。
        [wrong] { $found }应为 { $ours }，而非 { $printed }。
        [rounds] { $found }为 { $ours }，取整后即文档的 { $printed }。
       *[equal] { $found }为 { $ours }，与文档一致。
    }
fault =
    { $what ->
        [close] 文档的输入有误：{ $inputs }。代入正确的输入，其公式得 { $found }，与完整计算接近。
        [inputs] 文档的公式正确，输入有误：{ $inputs }。
        [both] 文档的公式与输入均有误：{ $inputs }。
       *[formula] 文档的公式（得 { $own }）不成立。
    }
undecided =
    { $why ->
        [assumed] 这是文档自己的假设；若要判断，需要：{ $missing }
        [circular] 只有文档自己这样说，没有独立来源可以印证或推翻。
       *[missing] 无法核实，缺少：{ $missing }
    }
origin =
    { $kind ->
        [plan] 按 { $plan }计算
        [as-if] 按 { $plan }、假定显存足够计算
        [source] 据“{ $source }”
        [own] 按文档自己的输入、以正确的算法计算
        [measured] 按文档所列实测数据
        [prices] 按本书收集的价格
        [shapes] 按模型公开的结构参数计算
        [hardware] 按硬件参数计算
       *[recomputed] 以有出处的输入重新计算
    }
rule =
    { $side ->
        [above] 高于 { $limit } 即触发
        [below] 低于 { $limit } 即触发
       *[outside] 超出 { $limit } 即触发
    }
end =
    { $state ->
        [always-fires] 一直告警
        [may-fire] 无故障也可能告警
        [sound] 能区分故障与正常
        [too-late] 触发时请求耗时已是平时的 { $slower } 倍，过迟
       *[never-fires] 永不触发
    }
failure =
    { $kind ->
        [clock] 加速卡频率降到 1/{ $by } 时
        [memory] 显存带宽降到 1/{ $by } 时
        [links] 卡间链路降到 1/{ $by } 时
        [network] 机间网络降到 1/{ $by } 时
        [alpha] 集合通信启动慢到 { $by } 倍时
        [host] 主机步间耗时增到 { $by } 倍时
        [prompts] 输入长到 { $by } 倍时
        [answers] 输出长到 { $by } 倍时
        [users] 请求增到 { $by } 倍时
        [cache] KV 块只剩 1/{ $by } 时
        [eager] 未启用图模式时
        [uneven] 专家负载不均时
       *[lost] 副本失去一半时
    }
setting =
    { $state ->
        [accepted] { $program } 接受 { $name } 的这一取值（版本 { $since } 至 { $until }）。
        [deprecated] { $program } 接受 { $name }，但已标为弃用（版本 { $since } 至 { $until }）。
        [unlisted] { $program } 有 { $name }，但源码未列出这一取值（版本 { $since } 至 { $until }）。
        [choice] { $program } 有 { $name }，但拒绝这一取值（版本 { $since } 至 { $until }）。
        [type] { $program } 有 { $name }，但取值类型不符（版本 { $since } 至 { $until }）。
        [unknown] 支持该模型的 { $program } 各版本（已查 { $since } 至 { $until }）都没有 { $name }。
        [works] { $program } 的 { $name }：作用与文档所说一致。
        [usual] { $program } 的 { $name }：即默认行为，设不设没有区别。
        [unread] { $program } 的 { $name }：没有任何程序读取。
        [stops] { $program } 的 { $name }：会使程序无法启动。
        [worse] { $program } 的 { $name }：不如不设。
        [misses] { $program } 的 { $name }：起不到预想的作用。
        [wrong] { $program } 的 { $name }：并非如此。
        [open] { $program } 的 { $name }：是否有益取决于具体环境。
        [ran] { $program } 的 { $name }：可用，文档所列实测数据即在此设置下得到。
       *[no-catalogue] { $program } 的 { $name }：本书没有收录该程序对这一设置的处理，无法判断。
    }
own =
    按文档自己的{ $itself ->
        [yes] 数据为
       *[no]
            { $how ->
                [differs] 公式与输入应得
               *[agrees] 公式与输入可得
            }
    } { $ours }，{ $how ->
        [agrees] 与所写一致
        [about] 与其约数 { $printed } 相近
       *[differs] 而非 { $printed }
    }。
limit =
    { $statement ->
        [yes]
            { $least ->
                [yes]
                    { $met ->
                        [yes] { $found }，据以判断的数值为 { $ours }，高于 { $printed }，说法成立。
                       *[no] { $found }，据以判断的数值为 { $ours }，并不高于 { $printed }，说法不成立。
                    }
               *[no]
                    { $met ->
                        [yes] { $found }，据以判断的数值为 { $ours }，低于 { $printed }，说法成立。
                       *[no] { $found }，据以判断的数值为 { $ours }，并不低于 { $printed }，说法不成立。
                    }
            }
       *[no]
            { $least ->
                [yes]
                    { $met ->
                        [yes] { $found }为 { $ours }，达到文档要求的下限 { $printed }。
                       *[no] { $found }为 { $ours }，达不到文档要求的下限 { $printed }。
                    }
               *[no]
                    { $met ->
                        [yes] { $found }为 { $ours }，未超过文档允许的上限 { $printed }。
                       *[no] { $found }为 { $ours }，超过文档允许的上限 { $printed }。
                    }
            }
    }
healthy =
    { $planned ->
        [yes] 按 { $plan }计算，正常时为 { $value }
       *[no] 正常时为 { $value }
    }
constant =
    { $rule }；{ $allotted ->
        [yes]
            { $planned ->
                [yes] 在 { $plan }上，
               *[no] { "" }
            }引擎启动时即占用 { $value }，此后不随负载变化
       *[no] 所监控的量每一步都是 { $value }
    }：{ $end }。
alert =
    { $rule }；{ $healthy }{ $how ->
        [lonely] ，空闲时段只有一个请求时为 { $value }
        [idle] ，没有请求时则为零
        [fires]
            ，{ $failure }为 { $value }{ $others ->
                [0] { "" }
               *[other] （另有 { $others } 种故障也会触发）
            }
        [nearest] ，仿真的各种故障中最接近阈值的（{ $failure }）也只到 { $value }
        [unmoved] ，任何故障都不使其更接近阈值
       *[healthy] { "" }
    }：{ $end }。
unexported =
    { $engines } 各版本均不导出该指标{ $named ->
        [yes] （{ $metric }）
       *[no] { "" }
    }：规则无数据可读，永不触发。
