### How a layout is written: servers, and of one server how attention and experts are cut.

servers-of =
    .en = { $count } replicas of { $server }
    .zh = { $count } 个实例，各 { $server }

### Whether a cut divides a model, and whether the cache of a request can be dealt so.

of-does-not-divide-of =
    .en = { $key } of { $parts } does not divide { $name } { $whole } of '{ $of }'
    .zh = { $key } 为 { $parts }，不能整除 '{ $of }' 的 { $name } { $whole }

tensor-parallel-of-neither-divides =
    .en = tensor_parallel of { $tp } neither divides nor is a multiple of { $name } { $heads } of '{ $of }'
    .zh = tensor_parallel 为 { $tp }，既不能整除 '{ $of }' 的 { $name } { $heads }，也不是它的整数倍

pipeline-parallel-of-exceeds-layers =
    .en = pipeline_parallel of { $pp } exceeds the { $layers } layers of '{ $of }'
    .zh = pipeline_parallel 为 { $pp }，超过 '{ $of }' 的 { $layers } 层

no-experts =
    .en = '{ $of }' has no experts, expected { $expected }
    .zh = '{ $of }' 没有专家，应为 { $expected }

no-slices =
    .en = '{ $of }' has no experts, expected none
    .zh = '{ $of }' 没有专家，不应给出

expert-parallel-of-does-not =
    .en = expert_parallel of { $ep } does not fit tensor x data parallel = { $tp } x { $dp }, expected a divisor of { $ranks } that divides { $tp } or is a multiple of it
    .zh = expert_parallel 为 { $ep }，与张量×数据并行 { $tp }×{ $dp } 不符，应为 { $ranks } 的约数，且是 { $tp } 的约数或倍数

experts-not-dealt =
    .en = expert_parallel of { $expert }{ $shared ->
        [0] { "" }
       *[other] { " " }less { $shared_ranks } of { $shared }
    } does not divide { $copies ->
        [0] n_routed_experts { $routed }
       *[other] { $routed } routed and { $copies } redundant experts
    } of '{ $of }', redundant_experts of { $fewest } would
    .zh = expert_parallel { $expert }{ $shared ->
        [0] { "" }
       *[other] 减去 { $shared_ranks } { $shared }
    } 不能整除'{ $of }' 的 { $routed } 个路由专家{ $copies ->
        [0] { "" }
       *[other] 与 { $copies } 个冗余专家
    }，redundant_experts 取 { $fewest } 即可

times-expert-parallel-of-does =
    .en = { $key } of { $slices } times expert_parallel of { $ep } does not fit tensor x data parallel = { $tp } x { $dp }, expected a product that divides { $ranks } and is a multiple of { $tp }
    .zh = { $key } { $slices } 乘以 expert_parallel { $ep } 与张量×数据并行 { $tp }×{ $dp } 不符，乘积应整除 { $ranks }，且是 { $tp } 的倍数

# number: what is expected
with-is-not-derived-expected =
    .en = { $key } of { $slices } with { $shared_ranks } is not derived, expected 1
    .zh = { $key } { $slices } 与 { $shared_ranks } 并用尚未推导，应为 1

# number: what is expected
over-data-parallel-ranks-has =
    .en = { $key } of { $slices } over data-parallel ranks has all tokens gathered, expected 1 with exchange_normal
    .zh = { $key } { $slices } 跨数据并行 rank 时要汇集全部 token，配合 exchange_normal 时应为 1

# number: what is expected
has-no-shared-experts-expected =
    .en = '{ $of }' has no shared experts, expected 0
    .zh = '{ $of }' 没有共享专家，应为 0

leaves-no-rank-of-expert =
    .en = { $key } of { $ranks } leaves no rank of expert_parallel { $expert } to the routed experts, expected fewer than { $expert }
    .zh = { $key } 为 { $ranks }，expert_parallel { $expert } 中没有 rank 留给路由专家，应小于 { $expert }

# number: what is expected
with-tensor-parallel-of-is =
    .en = { $key } of { $ranks } with tensor_parallel of { $tensor } is not derived, expected 0
    .zh = { $key } 为 { $ranks } 与 tensor_parallel { $tensor } 并用尚未推导，应为 0

# number: what is expected
is-reached-by-low-latency =
    .en = { $key } of { $ranks } is reached by the low-latency exchange, expected 0 with { $mode }
    .zh = { $key } 为 { $ranks } 须用低时延收发，配合 { $mode } 时应为 0

does-not-divide-tensor-parallel =
    .en = { $key } of { $shared } { $beyond ->
        [yes] exceeds
       *[no] does not divide
    } tensor_parallel { $tensor }
    .zh = { $key } 为 { $shared }，{ $beyond ->
        [yes] 超过
       *[no] 不能整除
    } tensor_parallel { $tensor }

needs-as-many-copies-of =
    .en = { $key } of { $shared } needs as many copies of the cache, but of { $heads } num_key_value_heads of '{ $of }' { $tensor } tensor-parallel ranks keep { $copies }
    .zh = { $key } 为 { $shared } 需要同样多份缓存，但 '{ $of }' 的 { $heads } 个 KV 头在 { $tensor } 个张量并行 rank 上只有 { $copies } 份

# number: what is expected
# only in .en: $shared
of-model-with-indexer-is =
    .en = { $key } of { $shared } of a model with an indexer is derived for latent attention alone, expected 1 for '{ $of }'
    .zh = 带索引器的模型只对潜在注意力推导了 { $key }，'{ $of }' 应为 1

### Whether slices of quantised matrices hold whole blocks: engines refuse to load one that does not.

of-cuts-of-into-slices =
    .en = { $key } of { $size } cuts { $piece } { $whole } of '{ $of }' into slices of { $width }, which are not whole blocks of { $block } of '{ $stored }', so no engine loads it; the nearest that loads is { $instead }
    .zh = { $key } 为 { $size }，把 '{ $of }' 的 { $piece } { $whole } 切成 { $width } 宽，不是 '{ $stored }' 块宽 { $block } 的整数倍，没有引擎能加载；最近的可加载切分：{ $instead }

degree =
    .en = { $key } of { $degree }
    .zh = { $key } { $degree }

or =
    .en = { " " }or{ " " }
    .zh = 或{ " " }

on-other-cards =
    .en = on other cards
    .zh = 换卡
