### What becomes of an alert that is run on healthy servers and on failing ones.

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
