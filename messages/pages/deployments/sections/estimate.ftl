### The estimate: what a user sees, what a step is made of, where the memory goes, and the floor.

decode-step =
    .en = a decode step
    .zh = 解码步

chunk-of-prefill =
    .en = a chunk of prefill
    .zh = 预填充块

weights-of-every-step =
    .en = weights of every step
    .zh = 每步必读的权重

experts-that-are-hit =
    .en = experts that are hit
    .zh = 命中的专家

kv-cache =
    .en = KV cache
    .zh = KV 缓存

prediction-layer-mtp =
    .en = prediction layer (MTP)
    .zh = 预测层（MTP）

absorbed-copies =
    .en = absorbed copies
    .zh = 吸收矩阵副本

all-to-all-buffers =
    .en = all-to-all buffers
    .zh = all-to-all 缓冲

estimate =
    .en = estimate
    .zh = 估计值

steady =
    .en = users see (steady state)
    .zh = 用户所见（稳态）

burst =
    .en = all at once (burst)
    .zh = 同时到达（突发）

bench =
    .en = mean of a benchmark that starts with the burst
    .zh = 以突发开始的压测的均值

run-replayed =
    .en = the run, replayed
    .zh = 逐步重放

benchmark-sends-many-requests-at =
    .en = The measured run sent many requests at once. It is therefore replayed, step by step, with the same step times{ $uneven ->
        [yes] , its requests of many lengths, of which only the mean is known, drawn from an exponential distribution
       *[no] { "" }
    }; the burst in closed form is one wave of requests of equal length.
    .zh = 实测一次发出大量请求，因此另按同样的每步用时逐步重放整个过程{ $uneven ->
        [yes] ；各请求长短不一而只知平均值，按指数分布抽取
       *[no] { "" }
    }。突发一列的闭式只描述一批等长的请求。

closed-form-of-steady-state =
    .en = The closed form of the steady state does not hold here: { $doubts }. It could not be simulated in a few seconds; `simulate` takes longer.
    .zh = 稳态的闭式在此不成立：{ $doubts }。几秒内仿真不完；可用 `simulate` 慢慢算。

closed-form-of-steady-state-does =
    .en = The closed form of the steady state does not hold here: { $doubts }. Its numbers are the means of { $count } simulated requests.
    .zh = 稳态的闭式在此不成立：{ $doubts }。表中稳态各值为 { $count } 个仿真请求的均值。

prefill-chunk-of-tokens =
    .en = prefill, { $whole ->
        [yes] one prompt
       *[no] a chunk
    } of { $size } tokens
    .zh = 预填充，一{ $whole ->
        [yes] 条
       *[no] 块
    } { $size } token{ $whole ->
        [yes] { " " }prompt
       *[no] { "" }
    }

dashed-time-that-overlap-hides =
    .en = Dashed: time that overlap hides, or that the path for one token or ranks with fewer requests save.
    .zh = 虚线框：其中被重叠掩盖，或因单 token 路径、请求较少的 rank 而省去的时间。

floor-has-reading-alone =
    .en = ; the [floor]{ $to } has the reading alone
    .zh = ；[下界]{ $to }只含读取

largest-share-of-time-is =
    .en = The largest share of the time is bound by { $items }. An operator counts entirely as reading or as arithmetic, by its operations per byte{ $floor }.
    .zh = 耗时最多的瓶颈：{ $items }。每个算子按每字节运算量整个计入读取或计算{ $floor }。

time-of =
    .en = time of { $phases }
    .zh = { $phases }时间

every-part =
    .en = Every part
    .zh = 逐项

weights-divided =
    .en = weights, divided
    .zh = 权重（切分）

padding-of-loaded-weights =
    .en = padding and layouts of loaded weights
    .zh = 加载后权重的填充与排布

weights-replicated =
    .en = weights, replicated
    .zh = 权重（每卡一份）

kv-cache-asked-for =
    .en = KV cache asked for
    .zh = 所需 KV 缓存

of-device-memory =
    .en = of the device's memory
    .zh = 占单卡显存

engine-share-covers-weights-and =
    .en = The engine's share covers weights and cache; activations, buffers and the runtime's own lie outside of it and are counted as usable here.
    .zh = 引擎的可用比例只包括权重与缓存；激活、缓冲与运行时预留在此比例之外，这里一并计入可用显存。

usable =
    .en = usable { $usable }
    .zh = 可用 { $usable }

capacity =
    .en = capacity { $capacity }
    .zh = 容量 { $capacity }

needed-on-one-card =
    .en = needed on one card
    .zh = 单卡所需

memory-of-one-card =
    .en = Memory of one card
    .zh = 单卡显存

run-ends-with-first-token =
    .en = The run ends with the first token; there is no decode step.
    .zh = 运行到首 token 为止，没有解码步。

read-per-device =
    .en = read per device
    .zh = 单卡读取量

# number: the intervals of all answers
floor-is-per-token-interval =
    .en = The floor is { $low } per token (80% interval { $spread }), { $share } of the estimate.
    .zh = 下界为每 token { $low }（80% 区间 { $spread }），是估计值的 { $share }。

step-yields-tokens-per-request =
    .en = A step yields { $tokens } tokens per request, so its time counts for as many.
    .zh = 一步为每个请求产出 { $tokens } 个 token，一步的时间按这么多个 token 平均。

experts-off-cards-take =
    .en = Experts off the cards take at least { $time } in each step, less what runs beside the card.
    .zh = 卡外的专家每步至少用时 { $time }，与卡重叠的部分不计。

and-in =
    .en = { " " }and in{ " " }
    .zh = 与

binds-in =
    .en = **{ $bound }** in { $phases }
    .zh = { $phases }为{ $bound_begins_latin ->
        [yes] { " " }
       *[no] { "" }
    }**{ $bound }**

requests-of-step-hit =
    .en = { $single ->
        [yes] A single request hits
       *[no] The { $requests } requests of a step hit
    } { $hit } of the { $total } experts of a layer{ $single ->
        [yes] { "" }
       *[no] { " " }on average
    }{ $halves ->
        [yes] { " " }in each micro-batch
       *[no] { "" }
    }; { $single ->
        [yes] it
       *[no] each
    } is taken to have { $context } tokens of context.
    .zh = { $single ->
        [yes] 单个请求每步
       *[no] 一步中的 { $requests } 个请求平均
    }{ $halves ->
        [yes] 在每个 micro-batch中
       *[no] { "" }
    }命中每层 { $total } 个专家中的 { $hit } 个；{ $single ->
        [yes] { "" }
       *[no] 每个请求的
    }上下文按 { $context } 个 token 计。

popular-experts-are-chosen =
    .en = Popular experts are chosen more often{ $drafts ->
        [yes] , and drafts are checked too
       *[no] { "" }
    }; uniform routing{ $drafts ->
        [yes] { " " }without drafts
       *[no] { "" }
    } would hit { $even }.
    .zh = 热门专家更常被选中{ $drafts ->
        [yes] ，并计入待校验的投机 token
       *[no] { "" }
    }；若{ $drafts ->
        [yes] 不投机且
       *[no] { "" }
    }各专家机会均等，则为 { $even } 个。
