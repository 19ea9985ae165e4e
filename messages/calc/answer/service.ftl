worse =
    .en = { $input ->
        [prefix_hit_share] Cached prefixes lengthen { $metric } to { $ours } from { $without } without them: below absorbed_prefix_tokens the engine computes the whole step with absorbed projections, which multiply every position in the wider latent space.
        [draft_tokens] Drafts lengthen { $metric } to { $ours } from { $without } without them: checking them takes longer than the accepted ones save.
       *[micro_batches] Two micro-batches lengthen { $metric } to { $ours } from { $without } with one: each reads the weights anew, which costs more than the overlap hides.
    }
    .zh = { $input ->
        [prefix_hit_share] 前缀命中使 { $metric } 从不命中时的 { $without } 延长到 { $ours }：已缓存的 token 少于 absorbed_prefix_tokens 时，引擎整步采用吸收形式，每个位置都在更宽的潜空间中相乘。
        [draft_tokens] 起草使 { $metric } 从不起草时的 { $without } 延长到 { $ours }：校验草稿所花的时间多于接受它们省下的时间。
       *[micro_batches] 两个 micro-batch 使 { $metric } 从一个时的 { $without } 延长到 { $ours }：各自都要重新读取权重，代价高于重叠所掩盖的时间。
    }
