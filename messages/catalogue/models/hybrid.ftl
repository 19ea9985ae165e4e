### What of a model's layers no formula has, as its configuration says it.

residuals =
    .en = Attention residuals over blocks of { $layers } layers are not counted.
    .zh = 跨 { $layers } 层的注意力残差未计入。

situ =
    .en = The activation SiTU is not counted.
    .zh = SiTU 激活未计入。

blocks =
    .en = An index scores blocks by the largest of their tokens; here every token is scored, and picked one by one.
    .zh = 索引器按块内最大得分挑选整块；这里按逐个 token 打分和挑选计算。
