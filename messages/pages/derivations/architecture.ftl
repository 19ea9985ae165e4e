### Parameters of models: tensors and their shapes, counts beside published ones, where they sit.

tensor-parallelism =
    .en = tensor parallelism
    .zh = 张量并行

by-heads =
    .en = by heads
    .zh = 按头切分

by-key-value-heads =
    .en = by key/value heads
    .zh = 按键值头切分

on-every-rank =
    .en = on every rank
    .zh = 每卡一份

experts-unused-where-all-are-chosen =
    .en = experts unused at $k = N$
    .zh = $k = N$ 时未用到的专家参数

experts-unused-without-moe-layers =
    .en = experts unused without MoE layers
    .zh = 没有 MoE 层时未用到的专家参数

attention-with-keys-per-head =
    .en = attention at $n_{ "{" }\mathrm{ "{" }kv{ "}" }{ "}" } = n_h$, $n_h d_h = d$
    .zh = $n_{ "{" }\mathrm{ "{" }kv{ "}" }{ "}" } = n_h$、$n_h d_h = d$ 时的注意力参数

biases-less-one-more-row =
    .en = biases, less one more row of the projections
    .zh = 偏置与投影矩阵多一行之差

matrix =
    .en = matrix
    .zh = 矩阵

shape =
    .en = shape
    .zh = 形状

vector =
    .en = vector
    .zh = 向量

tensor =
    .en = tensor
    .zh = 张量

layers =
    .en = layers
    .zh = 层数

origin-of-shapes =
    .en = Shapes: { $origin }.
    .zh = 形状来源：{ $origin }。

parameters-in-thousand-millions =
    .en = parameters (labels in 10⁹)
    .zh = 参数量（数字以 10⁹ 计）

stored =
    .en = stored
    .zh = 存储

counted =
    .en = counted
    .zh = 计数

other-models =
    .en = The other models
    .zh = 其余模型

active-in-thousand-millions =
    .en = active (10⁹)
    .zh = 激活参数量（10⁹）

with-embedding =
    .en = with embedding
    .zh = 含输入嵌入

active-of-total =
    .en = active of total
    .zh = 激活占总量

active-parameters-counted-and-published =
    .en = Active parameters, counted and published
    .zh = 激活参数量：计数与公开值
