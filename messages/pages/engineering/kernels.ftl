### Laws of kernels beside the tables that they were fitted to: errors, parts, and releases.

dense-matmul =
    .en = dense matmul
    .zh = 稠密矩阵乘

experts-slices =
    .en = experts, TP-sharded
    .zh = 专家（TP 切分）

experts-whole =
    .en = experts, whole
    .zh = 专家（完整）

experts-after-all-to-all =
    .en = experts after an all-to-all
    .zh = 专家（all-to-all 之后）

core-of-mla-decode =
    .en = core of MLA, decode
    .zh = MLA 核心（解码）

core-of-mla-prefill =
    .en = core of MLA, prefill
    .zh = MLA 核心（预填充）

mla-with-projections-decode =
    .en = MLA with projections, decode
    .zh = MLA 含投影（解码）

sparse-attention-with-projections-decode =
    .en = sparse attention with projections, decode
    .zh = 稀疏注意力含投影（解码）

all-reduce-in-server =
    .en = all-reduce in a server
    .zh = all-reduce（单机）

all-to-all-low-latency =
    .en = all-to-all, low latency
    .zh = 专家 all-to-all（低延迟）

all-to-all-normal-mode =
    .en = all-to-all, normal mode
    .zh = 专家 all-to-all（普通模式）

error-median =
    .en = error, median
    .zh = 误差中位数

nine-of-ten-within =
    .en = nine of ten within
    .zh = 九成的行误差不超过

tables-fitted =
    .en = tables fitted
    .zh = 拟合的表

tables-within-both-bars =
    .en = tables within both limits
    .zh = 两项均达标的表

only-judged =
    .en = tables only tested
    .zh = 只检验的表

rows-that-judge =
    .en = test rows
    .zh = 用于检验的行数

from-release =
    .en = from release
    .zh = 起始版本

kernel =
    .en = kernel
    .zh = 算子名

nine-of-ten =
    .en = nine of ten
    .zh = 九成的行误差不超过

lean-few-tokens =
    .en = lean, few tokens
    .zh = 偏差（token 少）

lean-many =
    .en = lean, many
    .zh = 偏差（token 多）

misses-most-at =
    .en = tokens with the largest error: lean
    .zh = 误差最大的 token 区间：偏差

fixed-not-overlapped =
    .en = fixed costs, not overlapped
    .zh = 固定开销（未被掩盖的部分）

rows-quantised-sorted-summed =
    .en = rows quantised, sorted, summed
    .zh = 行的量化、排序与求和

loading-and-arithmetic =
    .en = loading and arithmetic
    .zh = 加载与计算

law =
    .en = law
    .zh = 公式

law-over-table-there-lean =
    .en = law against the table in this range of tokens: lean / median error
    .zh = 公式与该区间实测之差：偏差／误差中位数

tokens =
    .en = { $count ->
        [one] { $tokens } token
       *[other] { $tokens } tokens
    }
    .zh = { $tokens } token

first-tables =
    .en = the first tables
    .zh = 最早的数据表

tokens-from =
    .en = tokens from
    .zh = token 数（起）

law-over-table =
    .en = law over table (%)
    .zh = 公式与实测之差（%）
