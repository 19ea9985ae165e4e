### Why a claim has its verdict, in a sentence or two of each language.

of-program =
    .en = { $name } of { $program }: { $state ->
        [works] it does what the document says
        [usual] this is how it is by default; nothing changes
        [unread] nothing reads it
        [stops] it stops the program
        [worse] it makes matters worse than leaving it out
        [misses] it does not do what it is set for
        [wrong] it is not so
        [open] whether it helps depends on the installation
        [ran] it works, for the measurements that the document prints were made with it
       *[no-catalogue] this book does not hold what the program makes of it, so it cannot be decided
    }.
    .zh = { $program } 的 { $name }：{ $state ->
        [works] 作用与文档所说一致
        [usual] 即默认行为，设不设没有区别
        [unread] 没有任何程序读取
        [stops] 会使程序无法启动
        [worse] 不如不设
        [misses] 起不到预想的作用
        [wrong] 并非如此
        [open] 是否有益取决于具体环境
        [ran] 可用，文档所列实测数据即在此设置下得到
       *[no-catalogue] 本书没有收录该程序对这一设置的处理，无法判断
    }。

of-releases =
    .en = { $state ->
        [accepted] { $program } takes { $name } with this value (releases { $since } to { $until }).
        [deprecated] { $program } takes { $name } and calls it deprecated (releases { $since } to { $until }).
        [unlisted] { $program } knows { $name }, but not this value (releases { $since } to { $until }).
        [choice] { $program } knows { $name }, but refuses this value (releases { $since } to { $until }).
        [type] { $program } knows { $name }, but the value is of the wrong type (releases { $since } to { $until }).
       *[unknown] No release of { $program } that serves the model has { $name } (releases { $since } to { $until } were read).
    }
    .zh = { $state ->
        [accepted] { $program } 接受 { $name } 的这一取值（版本 { $since } 至 { $until }）。
        [deprecated] { $program } 接受 { $name }，但已标为弃用（版本 { $since } 至 { $until }）。
        [unlisted] { $program } 有 { $name }，但源码未列出这一取值（版本 { $since } 至 { $until }）。
        [choice] { $program } 有 { $name }，但拒绝这一取值（版本 { $since } 至 { $until }）。
        [type] { $program } 有 { $name }，但取值类型不符（版本 { $since } 至 { $until }）。
       *[unknown] 支持该模型的 { $program } 各版本（已查 { $since } 至 { $until }）都没有 { $name }。
    }

deployment-does-not-run =
    .en = { $but ->
        [yes] But the document's deployment
       *[no] The document's deployment
    } does not run: { $why }.
    .zh = { $but ->
        [yes] 但文档的部署
       *[no] 文档的部署
    }无法运行：{ $why }。

configuration-does-not-start =
    .en = But no release that serves the model starts with the document's other settings beside it, because of { $names }{ $more ->
        [yes] { " " }and others
       *[no] { "" }
    }.
    .zh = 但支持该模型的各版本都无法以文档的整组设置启动，原因是其中的 { $names }{ $more ->
        [yes] { " " }等
       *[no] { "" }
    }。

others-say-otherwise =
    .en = Contradicted by { $count ->
        [one] claim
       *[other] claims
    } { $listed }{ $more ->
        [yes] { " " }and others
       *[no] { "" }
    }.
    .zh = 与论断 { $listed } { $more ->
        [yes] 等
       *[no] { "" }
    }相互矛盾。

rests-on =
    .en = Assumed here: { $assumption }
    .zh = 前提：{ $assumption }

to =
    .en = { $value } ({ $low } to { $high })
    .zh = { $value }（{ $low } 至 { $high }）

right-is =
    .en = { $found }, the figure is { $ours }.
    .zh = { $found }应为 { $ours }。

its-own-numbers-give =
    .en = The document's own figures give { $ours }, not { $printed }.
    .zh = 按文档自己的数据为 { $ours }，而非 { $printed }。

its-own-numbers-agree =
    .en = The document's own figures give { $ours }, as printed.
    .zh = 按文档自己的数据为 { $ours }，与所写一致。

its-own-formula-gives =
    .en = The document's own formula and inputs give { $ours }, not { $printed }.
    .zh = 按文档自己的公式与输入应得 { $ours }，而非 { $printed }。

its-own-formula-agrees =
    .en = The document's own formula and inputs give { $ours }, as printed.
    .zh = 按文档自己的公式与输入可得 { $ours }，与所写一致。

its-own-formula-about =
    .en = The document's own formula and inputs give { $ours }, about the { $printed } that it prints as an approximation.
    .zh = 按文档自己的公式与输入可得 { $ours }，与其约数 { $printed } 相近。

as-printed =
    .en = { $found }, the figure is { $ours }, as printed.
    .zh = { $found }为 { $ours }，与文档一致。

not-as-printed =
    .en = { $found }, the figure is { $ours }, not { $printed }.
    .zh = { $found }应为 { $ours }，而非 { $printed }。

within-interval =
    .en = { $found }, the figure is { $ours }; the printed { $printed } lies within this interval.
    .zh = { $found }为 { $ours }，文档的 { $printed } 落在这一区间内。

overlaps-interval =
    .en = { $found }, the figure is { $ours }; the printed { $printed } overlaps this interval, its middle inside.
    .zh = { $found }为 { $ours }；文档的 { $printed } 与这一区间重叠，中值在区间内。

within-what-is-printed =
    .en = { $found }, the figure is { $ours }, inside the printed { $printed }.
    .zh = { $found }为 { $ours }，在文档所写的 { $printed } 之内。

limit-within-interval =
    .en = { $found }, the figure is { $ours }; the limit of { $printed } lies within this interval and may be kept.
    .zh = { $found }为 { $ours }，文档的限值 { $printed } 落在这一区间内，有可能满足。

limit =
    .en = { $least ->
        [yes] { $met ->
            [yes] { $found }, the figure is { $ours }, which meets the printed minimum of { $printed }.
           *[no] { $found }, the figure is { $ours }, below the printed minimum of { $printed }.
        }
       *[no] { $met ->
            [yes] { $found }, the figure is { $ours }, which keeps to the printed limit of { $printed }.
           *[no] { $found }, the figure is { $ours }, above the printed limit of { $printed }.
        }
    }
    .zh = { $least ->
        [yes] { $met ->
            [yes] { $found }为 { $ours }，达到文档要求的下限 { $printed }。
           *[no] { $found }为 { $ours }，达不到文档要求的下限 { $printed }。
        }
       *[no] { $met ->
            [yes] { $found }为 { $ours }，未超过文档允许的上限 { $printed }。
           *[no] { $found }为 { $ours }，超过文档允许的上限 { $printed }。
        }
    }

statement =
    .en = { $least ->
        [yes] { $met ->
            [yes] { $found }, the number that decides the statement is { $ours }, above { $printed }: the statement holds.
           *[no] { $found }, the number that decides the statement is { $ours }, not above { $printed }: the statement does not hold.
        }
       *[no] { $met ->
            [yes] { $found }, the number that decides the statement is { $ours }, below { $printed }: the statement holds.
           *[no] { $found }, the number that decides the statement is { $ours }, not below { $printed }: the statement does not hold.
        }
    }
    .zh = { $least ->
        [yes] { $met ->
            [yes] { $found }，据以判断的数值为 { $ours }，高于 { $printed }，说法成立。
           *[no] { $found }，据以判断的数值为 { $ours }，并不高于 { $printed }，说法不成立。
        }
       *[no] { $met ->
            [yes] { $found }，据以判断的数值为 { $ours }，低于 { $printed }，说法成立。
           *[no] { $found }，据以判断的数值为 { $ours }，并不低于 { $printed }，说法不成立。
        }
    }

formula-holds-inputs-do-not =
    .en = The document's formula is right, its inputs are not: { $inputs }.
    .zh = 文档的公式正确，输入有误：{ $inputs }。

formula-does-not-hold =
    .en = The document's formula, which gives { $own }, is wrong.
    .zh = 文档的公式（得 { $own }）不成立。

neither-holds =
    .en = Both the document's formula and its inputs are wrong: { $inputs }.
    .zh = 文档的公式与输入均有误：{ $inputs }。

were-there-room =
    .en = If its cards had enough memory, the figure would be { $ours }.
    .zh = 假如显存足够，该值应为 { $ours }。

it-is-assumed =
    .en = This is an assumption of the document. It could be judged with: { $missing }
    .zh = 这是文档自己的假设；若要判断，需要：{ $missing }

cannot-be-checked =
    .en = This cannot be checked. What is missing: { $missing }
    .zh = 无法核实，缺少：{ $missing }

only-the-document-says-so =
    .en = Only the document itself says so; nothing independent confirms or refutes it.
    .zh = 只有文档自己这样说，没有独立来源可以印证或推翻。

a-source =
    .en = a source.
    .zh = 来源。

input-is-otherwise =
    .en = { $input } is { $ours }, not { $theirs }
    .zh = { $input }应为 { $ours }，不是 { $theirs }

in-gib =
    .en = { $found }, the figure is { $gib } GiB, which is { $ours }: the document writes GB for GiB.
    .zh = { $found }为 { $gib } GiB，即 { $ours }；文档把 GiB 写成了 GB。

rounds-to =
    .en = { $found }, the figure is { $ours }, which rounds to the printed { $printed }.
    .zh = { $found }为 { $ours }，取整后即文档的 { $printed }。

formula-comes-close =
    .en = The document's inputs are wrong: { $inputs }. With the right ones its formula gives { $found }, close to what a full calculation does.
    .zh = 文档的输入有误：{ $inputs }。代入正确的输入，其公式得 { $found }，与完整计算接近。

as-of =
    .en = More at { $claim }, of the same quantity.
    .zh = 另见同一数量的 { $claim }。

computed-for =
    .en = Computed for { $plan }
    .zh = 按 { $plan }计算

computed-as-if =
    .en = Computed for { $plan }, as if memory sufficed
    .zh = 按 { $plan }、假定显存足够计算

from-shapes =
    .en = From the model's published shapes
    .zh = 按模型公开的结构参数计算

from-hardware =
    .en = From the data of the hardware
    .zh = 按硬件参数计算

recomputed =
    .en = Recomputed with sourced inputs
    .zh = 以有出处的输入重新计算

on-own-inputs =
    .en = By correct arithmetic on the document's own inputs
    .zh = 按文档自己的输入、以正确的算法计算

measured =
    .en = By the measured rows that the document prints
    .zh = 按文档所列实测数据

at-prices =
    .en = At the prices collected in this book
    .zh = 按本书收集的价格

searched =
    .en = By a search over all layouts
    .zh = 遍历全部切分方式搜索

source-has =
    .en = By “{ $source }”
    .zh = 据“{ $source }”

plan =
    .en = { $cards }×{ $card } ({ $layout }, { $format }, { $users } { $users ->
        [one] user
       *[other] users
    })
    .zh = { $cards }×{ $card }（{ $layout }，{ $format }，{ $users } 个用户）

short-of-memory =
    .en = a card needs { $needed } and may use { $usable }
    .zh = 单卡需要 { $needed }，可用 { $usable }

fires-above =
    .en = Fires above { $limit }
    .zh = 高于 { $limit } 即触发

fires-below =
    .en = Fires below { $limit }
    .zh = 低于 { $limit } 即触发

fires-outside =
    .en = Fires outside { $limit }
    .zh = 超出 { $limit } 即触发

healthy =
    .en = when healthy it is { $value }
    .zh = 正常时为 { $value }

healthy-plan =
    .en = computed for { $plan }, it is { $value } when healthy
    .zh = 按 { $plan }计算，正常时为 { $value }

in-health =
    .en = { $rule }; { $healthy }: { $end }.
    .zh = { $rule }；{ $healthy }：{ $end }。

in-quiet-hour =
    .en = { $rule }; { $healthy }, and { $value } in a quiet hour, with a single request: { $end }.
    .zh = { $rule }；{ $healthy }，空闲时段只有一个请求时为 { $value }：{ $end }。

while-idle =
    .en = { $rule }; { $healthy }, and nothing while no request is in flight: { $end }.
    .zh = { $rule }；{ $healthy }，没有请求时则为零：{ $end }。

set-at-start =
    .en = { $rule }, and { $where }the engine takes { $value } when it starts and holds it under every load: { $end }.
    .zh = { $rule }；{ $where }引擎启动时即占用 { $value }，此后不随负载变化：{ $end }。

on-plan =
    .en = on { $plan }{ " " }
    .zh = 在 { $plan }上，

never-changes =
    .en = { $rule }, and what it watches is { $value } in every step: { $end }.
    .zh = { $rule }；所监控的量每一步都是 { $value }：{ $end }。

capped =
    .en = { $rule }; { $healthy }, and the engine runs no more than { $cap } at once (max_num_seqs), the others wait: { $end }.
    .zh = { $rule }；{ $healthy }，而引擎同时最多运行 { $cap } 个（max_num_seqs），其余排队：{ $end }。

fires-in =
    .en = { $rule }; { $healthy }, and { $value } { $failure }{ $others ->
        [0] { "" }
        [one] { " " }(one other failure is seen as well)
       *[other] { " " }({ $others } other failures are seen as well)
    }: { $end }.
    .zh = { $rule }；{ $healthy }，{ $failure }为 { $value }{ $others ->
        [0] { "" }
       *[other] （另有 { $others } 种故障也会触发）
    }：{ $end }。

nearest =
    .en = { $rule }; { $healthy }, and { $value } in the nearest of the simulated failures, { $failure }: { $end }.
    .zh = { $rule }；{ $healthy }，仿真的各种故障中最接近阈值的（{ $failure }）也只到 { $value }：{ $end }。

unmoved =
    .en = { $rule }; { $healthy }, and no failure brings it nearer: { $end }.
    .zh = { $rule }；{ $healthy }，任何故障都不使其更接近阈值：{ $end }。

unexported =
    .en = No release of { $engines } exports this metric{ $named }: the rule has nothing to read and never fires.
    .zh = { $engines } 各版本均不导出该指标{ $named }：规则无数据可读，永不触发。

named =
    .en = { " " }({ $metric })
    .zh = （{ $metric }）

or =
    .en = { " or " }
    .zh = 、

always =
    .en = it fires all the time
    .zh = 一直告警

perhaps =
    .en = it may fire although nothing is wrong
    .zh = 无故障也可能告警

sound =
    .en = it tells trouble from health
    .zh = 能区分故障与正常

too-late =
    .en = it fires only when requests take { $slower } times as long, too late
    .zh = 触发时请求耗时已是平时的 { $slower } 倍，过迟

never =
    .en = it never fires
    .zh = 永不触发

clock =
    .en = with the clock of the cards at 1/{ $by }
    .zh = 加速卡频率降到 1/{ $by } 时

memory =
    .en = with the memory of the cards at 1/{ $by } of its speed
    .zh = 显存带宽降到 1/{ $by } 时

links =
    .en = with the links between cards at 1/{ $by } of their speed
    .zh = 卡间链路降到 1/{ $by } 时

network =
    .en = with the network between servers at 1/{ $by } of its speed
    .zh = 机间网络降到 1/{ $by } 时

alpha =
    .en = with collectives that start { $by } times as slowly
    .zh = 集合通信启动慢到 { $by } 倍时

host =
    .en = with a host that takes { $by } times as long between steps
    .zh = 主机步间耗时增到 { $by } 倍时

eager =
    .en = with graphs off
    .zh = 未启用图模式时

uneven =
    .en = with experts unevenly loaded
    .zh = 专家负载不均时

prompts =
    .en = with prompts { $by } times as long
    .zh = 输入长到 { $by } 倍时

answers =
    .en = with answers { $by } times as long
    .zh = 输出长到 { $by } 倍时

users =
    .en = with { $by } times as many requests
    .zh = 请求增到 { $by } 倍时

cache =
    .en = with 1/{ $by } of the cache's blocks
    .zh = KV 块只剩 1/{ $by } 时

lost =
    .en = with half of the replicas lost
    .zh = 副本失去一半时
