### Advantages that a document prints of one engine over another, recomputed pair by pair.

rate-of-one-request =
    .en = rate of one request
    .zh = 单请求速率

throughput =
    .en = throughput
    .zh = 系统吞吐

advantage-in =
    .en = advantage in
    .zh = 优势指标

pairs =
    .en = pairs
    .zh = 对数

as-printed =
    .en = as printed
    .zh = 与文档相符

least =
    .en = least, %
    .zh = 最小，%

largest =
    .en = largest, %
    .zh = 最大，%

mean =
    .en = mean, %
    .zh = 均值，%

median =
    .en = median, %
    .zh = 中位数，%

rate-range =
    .en = rate, range
    .zh = 速率提升范围

rate-mean =
    .en = rate, mean
    .zh = 速率提升均值

tpot-range =
    .en = TPOT, range
    .zh = TPOT 降低范围

tpot-mean =
    .en = TPOT, mean
    .zh = TPOT 降低均值

ttft-range =
    .en = TTFT, range
    .zh = TTFT 降低范围

rate-all-scenarios =
    .en = rate, all scenarios
    .zh = 速率提升（全场景）

tpot-all-scenarios =
    .en = TPOT, all scenarios
    .zh = TPOT 降低（全场景）

follows =
    .en = follows
    .zh = 相符

does-not-follow =
    .en = **does not follow**
    .zh = **不符**

summary =
    .en = summary
    .zh = 归纳

from-pairs =
    .en = from the pairs
    .zh = 由各对算得
