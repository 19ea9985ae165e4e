### How a layout is written: servers, and of one server how attention and experts are cut.

servers-of = { $count } 个实例，各 { $server }

### Whether a cut divides a model, and whether the cache of a request can be dealt so.

of-does-not-divide-of = { $key } 为 { $parts }，不能整除 '{ $of }' 的 { $name } { $whole }（{ $near } 可以）
tensor-parallel-of-neither-divides = tensor_parallel 为 { $tp }，既不能整除 '{ $of }' 的 { $name } { $heads }，也不是它的整数倍
pipeline-parallel-of-exceeds-layers = pipeline_parallel 为 { $pp }，超过 '{ $of }' 的 { $layers } 层
no-experts = '{ $of }' 没有专家，应为 { $expected }
no-slices = '{ $of }' 没有专家，不应给出
expert-parallel-of-does-not = expert_parallel 为 { $ep }，与张量×数据并行 { $tp }×{ $dp } 不符，应为下列之一：{ $sizes }
experts-not-dealt =
    expert_parallel { $expert }{ $shared ->
        [0] { "" }
       *[other] 减去 { $shared_ranks } { $shared }
    } 不能整除'{ $of }' 的 { $routed } 个路由专家{ $copies ->
        [0] { "" }
       *[other] 与 { $copies } 个冗余专家
    }，redundant_experts 取 { $fewest } 即可
times-expert-parallel-of-does = { $key } { $slices } 乘以 expert_parallel { $ep } 与张量×数据并行 { $tp }×{ $dp } 不符，乘积应整除 { $ranks }，且是 { $tp } 的倍数
# number: what is expected
with-is-not-derived-expected = { $key } { $slices } 与 { $shared_ranks } 并用尚未推导，应为 1
# number: what is expected
over-data-parallel-ranks-has = { $key } { $slices } 跨数据并行 rank 时要汇集全部 token，配合 exchange_normal 时应为 1
# number: what is expected
has-no-shared-experts-expected = '{ $of }' 没有共享专家，应为 0
leaves-no-rank-of-expert = { $key } 为 { $ranks }，expert_parallel { $expert } 中没有 rank 留给路由专家，应小于 { $expert }
# number: what is expected
with-tensor-parallel-of-is = { $key } 为 { $ranks } 与 tensor_parallel { $tensor } 并用尚未推导，应为 0
# number: what is expected
is-reached-by-low-latency = { $key } 为 { $ranks } 须用低时延收发，配合 { $mode } 时应为 0
does-not-divide-tensor-parallel =
    { $key } 为 { $shared }，{ $beyond ->
        [yes] 超过
       *[no] 不能整除
    } tensor_parallel { $tensor }
needs-as-many-copies-of = { $key } 为 { $shared } 需要同样多份缓存，但 '{ $of }' 的 { $heads } 个 KV 头在 { $tensor } 个张量并行 rank 上只有 { $copies } 份
# number: what is expected
of-model-with-indexer-is = 带索引器的模型只对潜在注意力推导了 { $key }，'{ $of }' 应为 1

### Whether slices of quantised matrices hold whole blocks: engines refuse to load one that does not.

of-cuts-of-into-slices = { $key } 为 { $size }，把 '{ $of }' 的 { $piece } { $whole } 切成 { $width } 宽，不是 '{ $stored }' 块宽 { $block } 的整数倍，没有引擎能加载；最近的可加载切分：{ $instead }
degree = { $key } { $degree }
on-other-cards = 换卡
