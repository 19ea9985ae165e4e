### Settings: what each flag of the documents' commands is worth on the nearest deployment that runs.

sets-what-is-served-and =
    .en = Sets what is served and where; no effect on speed.
    .zh = 只指定服务的内容与位置，不影响速度。

on-by-default-gain-depends =
    .en = On by default. The gain depends on how much prompts repeat; see the text.
    .zh = 默认开启。收益取决于前缀命中率，文档没有给出；见正文。

on-by-default =
    .en = On by default.
    .zh = 默认开启。

bits-of-activations-either-way =
    .en = 16 bits of activations either way; take bfloat16, FP16 can overflow.
    .zh = 激活都是 16 比特；应写 bfloat16，FP16 可能溢出。

only-upper-limit-requests-are =
    .en = Only an upper limit: requests are shorter. Without it, one request of the model's full length has to fit.
    .zh = 只是上限，请求没有这么长。不写时，缓存必须放得下一个达到模型最大长度的请求。

metrics-have-no-data =
    .en = Leave it out: with it, the metrics that alerts rest on have no data. Not modelled: the time for a line of log.
    .zh = 不要写，否则告警所依据的指标没有数据。写一行日志的时间未建模。

start-up-only-see-loading =
    .en = Start-up only, see [](#loading).
    .zh = 只影响启动，见[](#loading)。

not-modelled-how-processes-are =
    .en = Not modelled: how processes are started and synchronised.
    .zh = 进程的启动与同步未建模。

start-up-only =
    .en = Start-up only.
    .zh = 只影响启动。

false-is-default =
    .en = False is the default.
    .zh = false 即默认值。

others-wait =
    .en = The others wait; their wait is not in the TTFT.
    .zh = 其余请求排队；首 token 时间未计排队。

without-it-every-card-would =
    .en = Without it, every card would be a data-parallel rank of its own.
    .zh = 卡数不变；不写则每卡一个副本。

room-for-activations-of-step =
    .en = Room for activations of a step.
    .zh = 改变单步激活占用的显存。

every-step-fetches-experts-over =
    .en = Every step fetches experts over PCIe.
    .zh = 每步都要经 PCIe 读取专家。

needs-other-weights-see-precision =
    .en = Needs other weights, see [](#precision).
    .zh = 须换权重，见[](#precision)。

nccl-does-all-reduce-instead =
    .en = NCCL does the all-reduce instead of the engine's own kernels.
    .zh = 改由 NCCL 归约，不用引擎自带算子。

room-for-kv-cache-not =
    .en = Room for the KV cache, not speed.
    .zh = 只影响缓存空间，不影响速度。

these-requests-do-not-reach =
    .en = It holds for each data-parallel rank, and these requests do not exceed it.
    .zh = 在途请求达不到这个上限。

cards-take-longer-to-run =
    .en = The cards take longer to run a step than the host to launch it.
    .zh = 卡执行一步比主机下发更久，故无损失。

bits-either-way =
    .en = 16 bits either way.
    .zh = 本来就是 16 位。

# number: what the engine sets
of-no-weight-for-step =
    .en = No effect on the time of a step. vLLM Ascend sets 128 where prefixes are cached.
    .zh = 不影响单步时间。启用前缀缓存时，vLLM Ascend 无论如何都设为 128。

checkpoint-decides-with-or-without =
    .en = The checkpoint decides, with or without it.
    .zh = 写不写都以权重自带的配置为准。

no-effect-here =
    .en = No effect on this plan.
    .zh = 在此没有影响。

does-not-run =
    .en = Does not run: { $why }
    .zh = 跑不起来：{ $why }

without-it-does-not-run =
    .en = Without it the plan does not run: { $why }
    .zh = 不写则跑不起来：{ $why }

in-no-release =
    .en = In no release.{ $note }
    .zh = 任何版本都没有。{ $note }

gone-after =
    .en = Gone after { $release }.{ $note }
    .zh = { $release } 之后删除。{ $note }

card-has-no-unit-for =
    .en = the card has no unit for { $dtypes }.
    .zh = 该卡没有 { $dtypes } 运算单元。

card-is-short =
    .en = a card is { $short } short.
    .zh = 单卡还差 { $short }。

instead-of =
    .en = instead of
    .zh = 对照取值

ms-per-token =
    .en = Δ ms per token
    .zh = Δ 每 token ms

ms-to-first-token =
    .en = Δ ms to the first token
    .zh = Δ 首 token ms

gb-left-of-card =
    .en = Δ GB left per card
    .zh = Δ 单卡余量 GB

effect =
    .en = effect
    .zh = 说明
