### What weights take: of a rank, in each precision, with copies, to be loaded, of a step.

# number: the cards of the deployment
h20-fp8 =
    .en = FP8, 8 × H20 (TP8)
    .zh = FP8，8 × H20（TP8）

# number: the cards of the deployment
ascend-w8a8-per-node =
    .en = W8A8, 16 × 910B2 (TP4 × DP4, EP16), per node
    .zh = W8A8，16 × 910B2（TP4 × DP4，EP16），每节点

# number: the cards of the deployment
ascend-w4a16 =
    .en = w4a16, 8 × 910B1 (TP8)
    .zh = w4a16，8 × 910B1（TP8）

divided-by =
    .en = divided by $t$
    .zh = 直接除以 $t$

rank-holds =
    .en = a rank holds
    .zh = 一个 rank 实际

replicated =
    .en = replicated
    .zh = 其中复制

excess =
    .en = excess
    .zh = 多出

how-ranks-are-cut =
    .en = DeepSeek-V3, BF16, one pipeline stage, experts split over the same ranks.
    .zh = DeepSeek-V3，BF16，单级流水线，专家在同一组 rank 上切分。

tensor-parallel-size =
    .en = tensor-parallel size
    .zh = 张量并行度

weights-on-rank-gb =
    .en = weights on a rank (GB)
    .zh = 单个 rank 的权重（GB）

bytes-per-expert-weight =
    .en = bytes per expert weight
    .zh = 专家每权重字节

one-of-eight-ranks-gb =
    .en = one of eight ranks (GB)
    .zh = 八路切分的一个 rank（GB）

of-bf16 =
    .en = of BF16
    .zh = 相对 BF16

other-four-bit-formats =
    .en = Other 4-bit formats
    .zh = 其他 4 比特格式

# number: sixteen, as in English
layout-of-sixteen-cards =
    .en = layout of sixteen 910B2
    .zh = 16 张 910B2

logged-gib =
    .en = logged (GiB)
    .zh = 日志（GiB）

counted-gib =
    .en = counted (GiB)
    .zh = 计数（GiB）

with-copies-gib =
    .en = with copies (GiB)
    .zh = 含副本（GiB）

distinct-experts-of-tokens =
    .en = DeepSeek-V3, { $tokens } tokens: ${ $filled } =$ **{ $found }**
    .zh = DeepSeek-V3，{ $tokens } 个 token：${ $filled } =$ **{ $found }**

limits =
    .en = Limits
    .zh = 极限

at-least-gb =
    .en = at least (GB)
    .zh = 至少（GB）

formula-gb =
    .en = formula (GB)
    .zh = 公式（GB）

at-most-gb =
    .en = at most (GB)
    .zh = 至多（GB）

from-one-drive-min =
    .en = from one drive (min)
    .zh = 从一块盘读（分钟）

one-drive =
    .en = One drive: { $rate } ({ $origin }).
    .zh = 一块盘：{ $rate }（{ $origin }）。

loader =
    .en = loader
    .zh = 加载器

from-storage-s =
    .en = from storage (s)
    .zh = 从存储（s）

from-memory-s =
    .en = from memory (s)
    .zh = 从内存（s）

# number: the year of the source
how-loaders-were-measured =
    .en = DeepSeek-R1 in FP8 on eight H200, storage of { $storage } GB/s, and a file system in memory; rates are { $size } divided by the time. [InstantTensor, docs/benchmark.md]({ $source }) (2026).
    .zh = 八张 H200 加载 FP8 的 DeepSeek-R1，存储为 { $storage } GB/s，另有内存文件系统；速率为 { $size } 除以用时。[InstantTensor，docs/benchmark.md]({ $source })（2026）。
