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
