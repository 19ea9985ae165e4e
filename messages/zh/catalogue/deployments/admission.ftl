### Which layouts an engine starts: servers that fill nodes, experts and replicas as it can.

server-of-cards-replicas-of = 一台推理服务器占 { $cards } 张卡、每个副本 { $replica } 张，不能占满每台 { $per_node } 卡的整机
# number: what is expected
drafted-tokens-no-layer-that = 投机 { $drafts } 个 token：'{ $model }' 没有发布 MTP 层，应为 0
drafter-that-no-engine-starts = '{ $model }' 的 draft_method { $method }：没有资料表明 { $engine } 支持，应改用模型自身的 MTP 层，或不投机
drafted-tokens-in-pipeline-stages = { $pipeline } 级流水线中投机 { $drafts } 个 token：{ $engine } 不支持
# number: what is expected
no-flag-cuts-experts-on = { $name }：没有参数能把 { $ranks } 个 rank 中 { $ep } 个上的专家各切 { $each } 份，应为整个专家（expert_parallel { $ranks }）或全部切分（1）
no-flag-cuts-experts-over = { $name }：没有参数能把专家切到 { $joined } 个副本上，应为整个专家，expert_parallel { $ranks }
# number: what is expected
attention-is-cut-over-all = { $name }：注意力要么切到服务器的全部 { $ranks } 个 rank，要么不切，tensor_parallel 应为 { $ranks } 或 1
replicas-of-cards-that-span = { $name }：跨机的副本（{ $tensor } 卡）不能共享专家，每个副本至多 { $per_node } 卡
no-flag-gives-ranks-to = { $name }：没有参数能给共享专家单独的 rank，不应给出 parallelism.{ $shared_ranks }
# number: what is expected
has-no-redundant-experts-expected = { $name }：没有冗余专家，应为 0
# number: what is expected
deals-no-cache-over-ranks =
    { $name }：在这种卡上{ $sparse ->
        [yes] 对带索引器的模型
       *[no] { "" }
    }不支持 { $shared_cache }，应为 1
vocabulary-not-dealt = { $name }：tensor_parallel 为 { $tp }，无法整除 '{ $of }' 的词表（{ $stated }，补齐到 { $block } 的倍数后为 { $padded }）

### All rules by which a deployment is loaded or not, in the order in which they are asked.

scores-of-indexer = 索引器打分
# why nothing loads a deployment, by kind
kind =
    { $name ->
        [host_format] 为 CPU 上的专家而制的精度
        [kernel] 引擎在该卡上拒绝运行的精度
        [context] 请求超过模型的最大长度
        [division] 无法整除模型或卡数的切分
        [dealt] 把缓存分摊到本来不存这份缓存的 rank 上的切分
        [blocks] 切开量化块、引擎不加载的切分
        [servers] 由多个实例或多台服务器组成、却有一台占不满的切分
        [engine] 没有引擎能启动的切分
        [stages] 分成流水线级、每级的专家又由几个数据并行 rank 分摊（EP 大于 TP）的切分：闭式解不成立
       *[drafts] 不与 MTP 投机组合的切分：该卡的引擎不都支持跨流水线级投机，或模型没有 MTP 层
    }
# number: bits of a format
has-no-matrix-unit-for = { $device } 的矩阵单元不支持 { $precision } 所需的数据类型：{ $wanted }。所列时间按权重先转为 16 比特计算
experts-of-are-stored-in = { $of } 的专家以 '{ $stored }' 存储，只有 CPU 算子读取，没有引擎在卡上计算
requests-of-tokens-are-longer = 请求长 { $context } token，超过 '{ $of }' 的 { $most } 个位置；输入与输出合计（input_tokens + output_tokens，或 context_tokens）应不超过 { $most }
pipeline-stages-of-ranks-that = { $pipeline } 级流水线又跨 rank 共享专家：闭式稳态对其不成立
dtype-for = { $classes }要求 { $dtype }
# engine: its name; release: of it; part: of a precision; why: what there is in place of a kernel
refused =
    { $engine }{ $released ->
        [yes] { " " }{ $release }
       *[no] { "" }
    }：{ $whole ->
        [yes] { $why }
       *[no] { $part }：{ $why }
    } [{ $source }]
refuses =
    '{ $device }' 上无法运行 { $model }（{ $precision }）。{ $refusals }{ $near ->
        [yes] 。此处可运行的最近精度是 { $nearest }
       *[no] { "" }
    }
no-source =
    没有来源说明{ $named ->
        [yes] { " " }{ $engine } 能否
       *[no] 是否有引擎能
    }在 '{ $device }' 上运行 { $precision } 的 { $model }（{ $parts }）；按 '{ $cards }' 的算子计算{ $near ->
        [yes] 。此处已知可运行的最近精度是 { $nearest }
       *[no] { "" }
    }
no-engine-known =
    { $named ->
        [yes] 不知道 { $engine } 能否在 '{ $device }' 上运行；按其开销和
       *[no] 尚无引擎在 '{ $device }' 上的算子资料；按
    } '{ $cards }' 类的算子计算，区间较宽
usual-of-type = '{ $device }' 未说明 { $names }：取 { $type } 的常用值，区间较宽。
part = { $name }（{ $stored }，以 { $dtype } 相乘）
part-cache =
    { $kind ->
        [sparse] 稀疏 MLA
        [block-sparse] 块稀疏注意力
        [csa] 压缩注意力
        [mla] MLA
       *[gqa] GQA
    }，缓存为 { $stored }，以 { $dtype } 相乘
part-class = 已读取的版本中都没有 { $stored } 类

### What an answer says of what it rests on: cards that are only announced, models that are not derived in full.

only-announced = '{ $device }' 目前只有厂商公布（{ $date }），尚未上市：各项数值为厂商承诺或假设，性能均无实测，上市产品可能与此不同。
marked = { $device }（未上市）
not-derived = { $name } 的架构尚未全部推导：{ $missing }
nearest-release = { $asked } 未收录：参数与行为取最接近的已收录版本 { $known }。
