### Kernels of experts that were measured, beside what the law of an operator says of them.

whole-expert =
    .en = whole expert
    .zh = 整个专家

slice-of-eighth =
    .en = TP8 shard
    .zh = TP8 切分

by-law =
    .en = by the law
    .zh = 按本页算法
