### Kernels of experts that were measured, beside what the law of an operator says of them.

whole-expert =
    .en = share of the peak, many rows: whole expert
    .zh = 行数很多时的峰值利用率：整个专家

slice-of-eighth =
    .en = TP8 shard
    .zh = TP8 切片

by-law =
    .en = shard at these rows, by the law
    .zh = 切片在此行数下，按公式
