### Where a law misses a table and by how much, as a cell of a table on a page has it.

outputs =
    .en = outputs
    .zh = 输出数

inputs =
    .en = inputs
    .zh = 输入数

elements-of-weight =
    .en = elements of the weight
    .zh = 权重元素数

rows-outputs =
    .en = rows × outputs
    .zh = 行数 × 输出数

hidden-size =
    .en = hidden size
    .zh = 隐藏维度

expert-width =
    .en = expert width
    .zh = 专家宽度

slice-width =
    .en = shard width
    .zh = TP 切分宽度

experts =
    .en = experts
    .zh = 专家数

experts-per-token =
    .en = experts per token
    .zh = 每 token 专家数

slices =
    .en = shards
    .zh = TP 切分数

ranks-of-experts =
    .en = ranks of experts
    .zh = 专家 rank 数

unevenness-of-routing =
    .en = unevenness of routing
    .zh = 路由不均匀度

rows-of-rank =
    .en = rows of the rank
    .zh = 本 rank 行数

heads =
    .en = heads
    .zh = 头数

context =
    .en = context
    .zh = 上下文长度

bytes-of-cached-element =
    .en = bytes of a cached element
    .zh = 缓存每元素字节数

positions =
    .en = positions
    .zh = 位置数

bytes-of-rank =
    .en = bytes of a rank
    .zh = 每 rank 字节数

bytes-of-all-ranks =
    .en = bytes of all ranks
    .zh = 全部 rank 字节数

bytes-of-token =
    .en = bytes of a token
    .zh = 每 token 字节数

shapes =
    .en = shapes
    .zh = 形状

another-kernel =
    .en = another kernel
    .zh = 切换到另一算子

another-kernel-or-l2 =
    .en = another kernel or the L2
    .zh = 切换到另一算子，或改由 L2 读取

too-few-rows-to-say =
    .en = too few rows to say
    .zh = 行数太少，无法判断

switched =
    .en = { $kernel }: { $place } ({ $factor })
    .zh = { $kernel }：{ $place }（{ $factor }）

rest =
    .en = { $how ->
        [trend] lean
       *[scatter] scatter
    } along { $place } ({ $factor })
    .zh = { $how ->
        [trend] 逐步偏离
       *[scatter] 不规则
    }：{ $place }（{ $factor }）
