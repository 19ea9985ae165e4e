### Which layouts an engine starts: servers that fill nodes, experts and replicas as it can.

server-of-cards-replicas-of =
    .en = a server of { $cards } cards, replicas of { $replica }, does not fill whole nodes of { $per_node }
    .zh = 一台推理服务器占 { $cards } 张卡、每个副本 { $replica } 张，不能占满每台 { $per_node } 卡的整机

# number: what is expected
drafted-tokens-no-layer-that =
    .en = { $drafts } drafted tokens: no layer that drafts is published with '{ $model }', expected 0
    .zh = 投机 { $drafts } 个 token：'{ $model }' 没有发布 MTP 层，应为 0

drafter-that-no-engine-starts =
    .en = draft_method { $method } of '{ $model }': { $engine } is not shown to draft with it, expected the model's own layer or no drafted tokens
    .zh = '{ $model }' 的 draft_method { $method }：没有资料表明 { $engine } 支持，应改用模型自身的 MTP 层，或不投机

drafted-tokens-in-pipeline-stages =
    .en = { $drafts } drafted tokens in { $pipeline } pipeline stages: { $engine } draft none there
    .zh = { $pipeline } 级流水线中投机 { $drafts } 个 token：{ $engine } 不支持

# number: what is expected
no-flag-cuts-experts-on =
    .en = { $name }: no flag cuts experts on { $ep } of { $ranks } ranks into { $each } slices, expected whole experts, expert_parallel of { $ranks }, or all in slices, of 1
    .zh = { $name }：没有参数能把 { $ranks } 个 rank 中 { $ep } 个上的专家各切 { $each } 份，应为整个专家（expert_parallel { $ranks }）或全部切分（1）

no-flag-cuts-experts-over =
    .en = { $name }: no flag cuts experts over { $joined } replicas, expected whole experts, expert_parallel of { $ranks }
    .zh = { $name }：没有参数能把专家切到 { $joined } 个副本上，应为整个专家，expert_parallel { $ranks }

# number: what is expected
attention-is-cut-over-all =
    .en = { $name }: attention is cut over all { $ranks } ranks of a server or over none, expected tensor_parallel of { $ranks } or 1
    .zh = { $name }：注意力要么切到服务器的全部 { $ranks } 个 rank，要么不切，tensor_parallel 应为 { $ranks } 或 1

replicas-of-cards-that-span =
    .en = { $name }: replicas of { $tensor } cards that span nodes share no experts, expected replicas of at most { $per_node }
    .zh = { $name }：跨机的副本（{ $tensor } 卡）不能共享专家，每个副本至多 { $per_node } 卡

no-flag-gives-ranks-to =
    .en = { $name }: no flag gives ranks to the shared expert alone, expected no parallelism.{ $shared_ranks }
    .zh = { $name }：没有参数能给共享专家单独的 rank，不应给出 parallelism.{ $shared_ranks }

# number: what is expected
has-no-redundant-experts-expected =
    .en = { $name }: has no redundant experts, expected 0
    .zh = { $name }：没有冗余专家，应为 0

# number: what is expected
# only in .zh: $shared_cache
deals-no-cache-over-ranks =
    .en = { $name }: deals no cache { $sparse ->
        [yes] of a model with an indexer{" "}
       *[no] { "" }
    }over ranks on these cards, expected 1
    .zh = { $name }：在这种卡上{ $sparse ->
        [yes] 对带索引器的模型
       *[no] { "" }
    }不支持 { $shared_cache }，应为 1

vocabulary-not-dealt =
    .en = { $name }: tensor_parallel of { $tp } does not divide the vocabulary of '{ $of }', { $stated } filled up to { $padded } (a multiple of { $block })
    .zh = { $name }：tensor_parallel 为 { $tp }，无法整除 '{ $of }' 的词表（{ $stated }，补齐到 { $block } 的倍数后为 { $padded }）

### All rules by which a deployment is loaded or not, in the order in which they are asked.

scores-of-indexer =
    .en = scores of the indexer
    .zh = 索引器打分

# why nothing loads a deployment, by kind
kind =
    .en = { $name ->
        [host_format] precisions made for experts on processors
        [kernel] precisions that engines refuse on the card
        [context] requests longer than the model takes
        [division] layouts that do not divide the model or the cards evenly
        [dealt] layouts that divide a cache among ranks that hold no copy of it
        [blocks] layouts that cut a block of scales
        [servers] layouts over several instances or nodes that leave cards of a node unused
        [engine] layouts that no engine starts
        [stages] layouts with pipeline stages whose data-parallel ranks divide the experts (EP above TP): the closed form does not hold
       *[drafts] layouts not tried with MTP drafts: not every engine of the card drafts across pipeline stages, or the model has no MTP layer
    }
    .zh = { $name ->
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
has-no-matrix-unit-for =
    .en = { $device } has no matrix unit for what { $precision } multiplies: { $wanted }. Times are those of weights widened to 16 bits
    .zh = { $device } 的矩阵单元不支持 { $precision } 所需的数据类型：{ $wanted }。所列时间按权重先转为 16 比特计算

experts-of-are-stored-in =
    .en = experts of { $of } are stored in '{ $stored }', which kernels of processors read; no engine multiplies it on the card
    .zh = { $of } 的专家以 '{ $stored }' 存储，只有 CPU 算子读取，没有引擎在卡上计算

requests-of-tokens-are-longer =
    .en = requests of { $context } tokens are longer than the { $most } positions of '{ $of }', expected at most { $most } for prompt and answer together (input_tokens + output_tokens, or context_tokens)
    .zh = 请求长 { $context } token，超过 '{ $of }' 的 { $most } 个位置；输入与输出合计（input_tokens + output_tokens，或 context_tokens）应不超过 { $most }

pipeline-stages-of-ranks-that =
    .en = { $pipeline } pipeline stages of ranks that share experts: the closed form of their steady state does not hold
    .zh = { $pipeline } 级流水线又跨 rank 共享专家：闭式稳态对其不成立

dtype-for =
    .en = { $dtype } for { $classes }
    .zh = { $classes }要求 { $dtype }

# only in .en: $english
# only in .zh: $engine
# only in .zh: $device
# only in .zh: $precision
# only in .zh: $nearest
# engine: its name; release: of it; part: of a precision; why: what there is in place of a kernel
refused =
    .en = { $engine }{ $released ->
        [yes] { " " }{ $release }
       *[no] { "" }
    }: { $whole ->
        [yes] { $why }
       *[no] { $part }: { $why }
    } [{ $source }]
    .zh = { $engine }{ $released ->
        [yes] { " " }{ $release }
       *[no] { "" }
    }：{ $whole ->
        [yes] { $why }
       *[no] { $part }：{ $why }
    } [{ $source }]

refuses =
    .en = on '{ $device }' { $model } does not run in { $precision }. { $refusals }{ $near ->
        [yes] . The nearest that runs here is { $nearest }
       *[no] { "" }
    }
    .zh = '{ $device }' 上无法运行 { $model }（{ $precision }）。{ $refusals }{ $near ->
        [yes] 。此处可运行的最近精度是 { $nearest }
       *[no] { "" }
    }

no-source =
    .en = no source says whether { $named ->
        [yes] { $engine }
       *[no] any engine
    } runs { $model } in { $precision } on '{ $device }' ({ $parts }); computed with the kernels of '{ $cards }'{ $near ->
        [yes] . The nearest that is known to run here is { $nearest }
       *[no] { "" }
    }
    .zh = 没有来源说明{ $named ->
        [yes] { " " }{ $engine } 能否
       *[no] 是否有引擎能
    }在 '{ $device }' 上运行 { $precision } 的 { $model }（{ $parts }）；按 '{ $cards }' 的算子计算{ $near ->
        [yes] 。此处已知可运行的最近精度是 { $nearest }
       *[no] { "" }
    }

no-engine-known =
    .en = { $named ->
        [yes] it is not known whether { $engine } runs on '{ $device }'; computed with its overheads and
       *[no] no kernels of an engine are known for '{ $device }'; computed with
    } the kernels of the class '{ $cards }', in wide ranges
    .zh = { $named ->
        [yes] 不知道 { $engine } 能否在 '{ $device }' 上运行；按其开销和
       *[no] 尚无引擎在 '{ $device }' 上的算子资料；按
    } '{ $cards }' 类的算子计算，区间较宽

usual-of-type =
    .en = '{ $device }' does not state { $names }: usual values of { $type }s are taken, in wide ranges.
    .zh = '{ $device }' 未说明 { $names }：取 { $type } 的常用值，区间较宽。

part =
    .en = { $name } in { $stored }, multiplied in { $dtype }
    .zh = { $name }（{ $stored }，以 { $dtype } 相乘）

part-cache =
    .en = { $kind ->
        [sparse] sparse latent attention
        [block-sparse] block-sparse attention
        [csa] compressed attention
        [mla] latent attention
       *[gqa] grouped-query attention
    } over a cache in { $stored }, multiplied in { $dtype }
    .zh = { $kind ->
        [sparse] 稀疏 MLA
        [block-sparse] 块稀疏注意力
        [csa] 压缩注意力
        [mla] MLA
       *[gqa] GQA
    }，缓存为 { $stored }，以 { $dtype } 相乘

part-class =
    .en = its class { $stored } is in none of the releases read
    .zh = 已读取的版本中都没有 { $stored } 类

### What an answer says of what it rests on: cards that are only announced, models that are not derived in full.

only-announced =
    .en = '{ $device }' is only announced ({ $date }): its numbers are promises of its maker or assumptions, none of its speed was measured, and the card that is sold may differ.
    .zh = '{ $device }' 目前只有厂商公布（{ $date }），尚未上市：各项数值为厂商承诺或假设，性能均无实测，上市产品可能与此不同。

marked =
    .en = { $device } (announced)
    .zh = { $device }（未上市）

not-derived =
    .en = { $name } is not derived in full. { $missing }
    .zh = { $name } 的架构尚未全部推导：{ $missing }

nearest-release =
    .en = { $asked } is not in the catalogue: flags and behaviour are those of { $known }, the nearest release that is.
    .zh = { $asked } 未收录：参数与行为取最接近的已收录版本 { $known }。

kernels =
    .en = { $words }.
    .zh = { $words }。
