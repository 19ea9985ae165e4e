### What a group of cards has between it, and how long a sum over it takes: tables and pictures.

tree =
    .en = tree
    .zh = 树

one-shot =
    .en = one-shot
    .zh = 一轮

two-shot =
    .en = two-shot
    .zh = 两轮

in-node =
    .en = in a node
    .zh = 节点内

to-one-card-gb-s =
    .en = to one card, $B_2^{ "{" }l{ "}" }$ (GB/s)
    .zh = 到一张卡 $B_2^{ "{" }l{ "}" }$（GB/s）

to-all-gb-s =
    .en = to all, $B_l$ (GB/s)
    .zh = 到全部卡 $B_l$（GB/s）

share-reached =
    .en = share reached, $\eta_l$
    .zh = 实际可达 $\eta_l$

network-port-gb-s =
    .en = network port, $B_n$ (GB/s)
    .zh = 网口 $B_n$（GB/s）

latency-of-message =
    .en = latency, $\alpha$
    .zh = 延迟 $\alpha$

across-nodes =
    .en = across nodes, $\alpha_n$
    .zh = 跨节点 $\alpha_n$

latency-times-bandwidth-kb =
    .en = $\alpha\,\eta_l B_l$ (kB)
    .zh = $\alpha\,\eta_l B_l$（kB）

links-of-group-gb-s =
    .en = links of the group (GB/s)
    .zh = 组内链路（GB/s）

measured-all-reduce-gb-s =
    .en = measured all-reduce (GB/s)
    .zh = 实测 all-reduce（GB/s）

of-links =
    .en = of the links
    .zh = 占链路

algorithm =
    .en = algorithm
    .zh = 算法

steps =
    .en = steps
    .zh = 步数

sent-per-rank =
    .en = over the busiest port ($Q$)
    .zh = 最忙的端口（$Q$）

between-two-ranks =
    .en = between the busiest two ranks ($Q$)
    .zh = 最忙的一对 rank 之间（$Q$）

crossing-in-tokens =
    .en = tokens
    .zh = 折合 token

bound =
    .en = bound
    .zh = 下界

payload-b =
    .en = payload (B)
    .zh = 数据量（B）

one-all-reduce-us =
    .en = one all-reduce (µs)
    .zh = 一次 all-reduce（µs）

by-levels-us =
    .en = by levels (µs)
    .zh = 分层（µs）

one-ring-over-ports-us =
    .en = one ring over the ports (µs)
    .zh = 只走网口的单环（µs）

cards-of-one-node-us =
    .en = { $cards } cards of one node (µs)
    .zh = 同节点 { $cards } 卡（µs）

tokens =
    .en = { $tokens } { $count ->
        [one] token
       *[other] tokens
    }
    .zh = { $tokens } token

tokens-us =
    .en = { $tokens } (µs)
    .zh = { $tokens }（µs）
