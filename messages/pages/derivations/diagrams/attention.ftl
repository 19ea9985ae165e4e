### Latent attention: from the hidden state to what is cached, and from there to the heads.

latent-attention =
    .en = Latent attention, one token in one layer
    .zh = 潜在注意力：一个 token 的一层

what-is-cached =
    .en = The hidden state of { $hidden } elements is projected down to a query latent of { $query } and to a latent of { $latent } with { $rotary } rotary elements beside it. Only the latter two are cached. From them { $heads } heads either expand { $expanded } elements of keys and values, or they multiply the up-projection into the query and attend to the cache itself.
    .zh = { $hidden } 维隐藏状态降维成 { $query } 维查询潜向量，以及 { $latent } 维潜向量和 { $rotary } 维旋转部分，只有后两者进缓存。{ $heads } 个头要么由它展开成 { $expanded } 个键值元素，要么把升维矩阵乘进查询、直接在缓存上做注意力。

hidden-state-of-token =
    .en = hidden state of a token
    .zh = 一个 token 的隐藏状态

down =
    .en = down
    .zh = 降维

query-latent =
    .en = query latent
    .zh = 查询潜向量

outputs-of-heads =
    .en = outputs of the heads, { $heads } × { $value } = { $out }
    .zh = 各头输出，{ $heads } × { $value } = { $out }

projected-back-to =
    .en = projected back to { $hidden }
    .zh = 投影回 { $hidden } 维

cached =
    .en = cached: { $latent } + { $rotary }
    .zh = 缓存：{ $latent } + { $rotary }

latent-rotary =
    .en = latent, rotary
    .zh = 潜向量、旋转部分

b-per-layer =
    .en = { $layer } B per layer,
    .zh = 每层 { $layer } B，

b-in-layers =
    .en = { $whole } B in { $layers } layers
    .zh = { $layers } 层共 { $whole } B

expanded =
    .en = expanded
    .zh = 展开

keys-and-values-of-heads =
    .en = { $heads } keys of { $key } + { $rotary } and values of { $value }: { $expanded } elements, { $times } times the cache
    .zh = 潜向量升维成 { $heads } 组键（{ $key } + { $rotary }）与值（{ $value }）：共 { $expanded } 个元素，是缓存的 { $times } 倍

used-mostly-in-prefill =
    .en = used mostly in prefill
    .zh = 多用于预填充

absorbed =
    .en = absorbed
    .zh = 吸收

queries-attend-to-cache =
    .en = { $heads } queries of { $latent } + { $rotary } attend to the cache itself; the up-projections multiply query and output
    .zh = 升维矩阵改为乘在查询与输出上；{ $heads } 个 { $latent } + { $rotary } 维的查询直接对缓存做注意力

used-in-decode =
    .en = used in decode
    .zh = 用于解码
