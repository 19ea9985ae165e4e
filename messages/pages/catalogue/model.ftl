### The page of a model: parameters, weights and cache, counted from its shapes.

all-of-16-bits =
    .en = 16 bits throughout
    .zh = 全部 16 比特

all-of-8-bits =
    .en = 8 bits (FP8 or INT8)
    .zh = 8 比特（FP8 或 INT8）

latent-fp8-rotary-16-bits =
    .en = FP8 latent with scales, 16-bit rotary key
    .zh = 潜向量 FP8 带缩放因子，旋转键 16 比特

attention-cut-by-heads =
    .en = attention, sharded by heads
    .zh = 注意力（按头切分）

attention-keys-and-values =
    .en = attention, keys and values
    .zh = 注意力（键值投影）

attention-on-every-rank =
    .en = attention, on every rank
    .zh = 注意力（每卡一份）

compressors-of-the-cache =
    .en = compressors of the cache
    .zh = 缓存压缩器

hyper-connections =
    .en = hyper-connections
    .zh = 超连接

norms =
    .en = norms
    .zh = 归一化

everything-else =
    .en = everything else
    .zh = 其余

layers-for-multi-token-prediction =
    .en = layers for multi-token prediction
    .zh = 多 token 预测层数

bias-per-expert-in-router =
    .en = a bias per expert in the router
    .zh = 路由器中每个专家的偏置

biases-in-experts =
    .en = biases in the experts
    .zh = 专家中的偏置

biases-of-queries-keys-values =
    .en = biases of queries, keys and values
    .zh = 查询、键、值投影的偏置

bias-of-attention-output =
    .en = a bias of the attention output
    .zh = 注意力输出投影的偏置

gate-of-attention-output =
    .en = gate of the attention's output
    .zh = 注意力输出门控

norms-of-queries-and-keys =
    .en = norms of queries and keys
    .zh = 查询与键的归一化

attention-sinks =
    .en = attention sinks
    .zh = 注意力汇聚项

one-matrix-for-embedding-and-head =
    .en = one matrix for embedding and head
    .zh = 嵌入与输出头共用一个矩阵

parameters-of-which-some-are-used =
    .en = **{ $total }** parameters are stored, of which one token uses **{ $active }** ({ $used }).
    .zh = 存储 **{ $total }** 个参数，单个 token 用到 **{ $active }** 个（{ $used }）。

parameters-all-used =
    .en = **{ $total }** parameters, all of which every token uses, but for the input embedding.
    .zh = 共 **{ $total }** 个参数，除输入嵌入外每个 token 全部用到。

bytes-in-the-cache =
    .en = Each token leaves { $at_most ->
        [yes] at most{ " " }
       *[no] { "" }
    }**{ $kv } bytes** in the KV cache, depending on how the cache is stored.
    .zh = 每个 token 在 KV 缓存中{ $at_most ->
        [yes] 至多
       *[no] { "" }
    }占 **{ $kv } 字节**，取决于缓存的存储格式。

stored-as =
    .en = stored as
    .zh = 存储格式

bytes-per-token =
    .en = bytes per token
    .zh = 每 token 字节数

one-request-of-tokens =
    .en = one request of { $longest } tokens
    .zh = 一个 { $longest } token 的请求

longest-request =
    .en = longest request
    .zh = 最长请求

total =
    .en = total
    .zh = 总量

no-total-is-published =
    .en = No total is published for it.
    .zh = 未见公开的总量。

files-hold-prediction-layer =
    .en = The files hold the main model, its layer for multi-token prediction (MTP) and that layer's copies of embedding and head.
    .zh = 权重文件包含主模型、多 token 预测（MTP）层，以及该层另存的嵌入与输出头副本。

files-hold-layer-without-copies =
    .en = The files hold the main model and its layer for multi-token prediction (MTP), which takes embedding and head from the main model.
    .zh = 权重文件包含主模型与多 token 预测（MTP）层；该层共用主模型的嵌入与输出头。

counted-here =
    .en = counted here
    .zh = 本书计数

difference =
    .en = difference
    .zh = 相差

source-and-what-is-included =
    .en = source, and what it includes
    .zh = 来源与口径

named =
    .en = { $name } (`{ $key }`)
    .zh = { $name }（`{ $key }`）

it-also-has =
    .en = It also has: { $flags }.
    .zh = 另有：{ $flags }。

mamba-2-in-linear-layers =
    .en = Mamba-2 in its linear layers
    .zh = 线性层为 Mamba-2

keys-that-serve-as-values =
    .en = keys that serve as values in layers without a window
    .zh = 不带窗口的层以键作值
