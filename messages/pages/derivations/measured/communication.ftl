### Measured collectives and exchanges beside what comes out here: every run, and the errors.

dispatch-and-combine-low-latency =
    .en = dispatch and combine, low latency
    .zh = 分发与合并，低延迟

dispatch-and-combine-normal =
    .en = dispatch and combine, normal
    .zh = 分发与合并，普通

both-ways =
    .en = both ways
    .zh = 往返

library-or-mode =
    .en = library or mode
    .zh = 通信库或模式

nodes =
    .en = nodes
    .zh = 节点数

here =
    .en = predicted
    .zh = 本页

fitted =
    .en = fitted
    .zh = 用于拟合

all-comparisons =
    .en = All { $runs } comparisons
    .zh = 全部 { $runs } 项对照

normal-if-each-copy-were =
    .en = normal, if each copy were forwarded, not one per rank
    .zh = 普通，若逐份转发而非每 rank 一份

what =
    .en = what
    .zh = 对象

comparisons =
    .en = comparisons
    .zh = 项数

median-size-of-error =
    .en = median size of the error
    .zh = 偏差绝对值的中位数

median-error =
    .en = median error
    .zh = 偏差中位数

worst-by-ratio =
    .en = worst, by ratio
    .zh = 最大偏差（按预测与实测之比）
