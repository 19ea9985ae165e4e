### What of a model's layers no formula has, as its configuration says it.

residuals =
    .en = Attention residuals over blocks of { $layers } layers are not counted.
    .zh = 跨 { $layers } 层的注意力残差未计入。

situ =
    .en = The activation SiTU is not counted.
    .zh = SiTU 激活未计入。

blocks =
    .en = Its indexer scores a block by the highest score of its tokens; here every token is scored and selected by itself.
    .zh = 该模型的索引器按块内最大得分挑选整块；这里按逐个 token 打分、逐个 token 挑选来计算。

pooled =
    .en = { $count ->
        [one] The gates by which an indexer pools keys, and the token after the last pool, are not counted.
       *[other] The gates by which an indexer pools keys, and up to { $count } tokens after the last pool, are not counted.
    }
    .zh = 索引器池化键所用的门，以及最后一个池之后至多 { $count } 个 token，未计入。
