### Latent attention: from the hidden state to what is cached, and from there to the heads.

latent-attention = 潜在注意力：一个 token 的一层
what-is-cached = { $hidden } 维隐藏状态降维成 { $query } 维查询潜向量，以及 { $latent } 维潜向量和 { $rotary } 维旋转部分，只有后两者进缓存。{ $heads } 个头要么由它展开成 { $expanded } 个键值元素，要么把升维矩阵乘进查询、直接在缓存上做注意力。
hidden-state-of-token = 一个 token 的隐藏状态
down = 降维
query-latent = 查询潜向量
outputs-of-heads = 各头输出，{ $heads } × { $value } = { $out }
projected-back-to = 投影回 { $hidden } 维
cached = 缓存：{ $latent } + { $rotary }
latent-rotary = 潜向量、旋转部分
b-per-layer = 每层 { $layer } B，
b-in-layers = { $layers } 层共 { $whole } B
expanded = 展开
keys-and-values-of-heads = 潜向量升维成 { $heads } 组键（{ $key } + { $rotary }）与值（{ $value }）：共 { $expanded } 个元素，是缓存的 { $times } 倍
used-mostly-in-prefill = 多用于预填充
absorbed = 吸收
queries-attend-to-cache = 升维矩阵改为乘在查询与输出上；{ $heads } 个 { $latent } + { $rotary } 维的查询直接对缓存做注意力
used-in-decode = 用于解码
