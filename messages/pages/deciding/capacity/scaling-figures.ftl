### The pictures of the chapter on growth. They draw what they are given, in SI units.

one-pool =
    .en = one pool
    .zh = 单池

two-pools-experts-in-one =
    .en = two pools, experts in one server
    .zh = 两池，专家不出服务器

two-pools =
    .en = two pools
    .zh = 两池

output-tokens-s-per-card =
    .en = output tokens/s per card, within limits
    .zh = 限值内每卡输出 token/s

servers-that-serve-as-one =
    .en = servers that serve as one
    .zh = 共同服务的服务器台数

throughput-that-is-there =
    .en = throughput that is there (%)
    .zh = 实有吞吐（%）
