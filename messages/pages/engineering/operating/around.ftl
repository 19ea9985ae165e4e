### Around the flags: the first paragraph, MTP never enabled, links, clocks, scripts.

# number: cards of the document's plan
s1-h20 =
    .en = S1, 32 H20
    .zh = S1，32 张 H20

# number: cards of the document's plan
s0-ascend =
    .en = S0, 32 Ascend 910B2
    .zh = S0，32 张昇腾 910B2

ms-per-token-without =
    .en = ms per token without
    .zh = 不投机，每 token ms

ms-per-token-with-draft =
    .en = ms per token with one MTP token
    .zh = 投机一个，每 token ms

more-token-s =
    .en = more token/s
    .zh = 吞吐增加

gb-of-card =
    .en = Δ GB free per card
    .zh = Δ 单卡余量 GB

runs =
    .en = runs
    .zh = 能否运行

short =
    .en = { $short } short
    .zh = 差 { $short }

not-across-stages-in =
    .en = not across stages in { $release }
    .zh = { $release } 不跨流水线级投机

does-not-run =
    .en = no: { $against }
    .zh = 不能：{ $against }

ms-of-decode-step =
    .en = ms of a decode step
    .zh = 解码一步 ms

of-it-communication =
    .en = of it, communication
    .zh = 其中通信

all-reduces-within-server =
    .en = of it, all-reduces within a server
    .zh = 其中机内 all-reduce

ms-per-token-if-links =
    .en = ms per token if links took no time
    .zh = 若通信不耗时，每 token ms

ms-less-to-first-token =
    .en = ms of TTFT saved by that
    .zh = 若通信不耗时，首 token 缩短 ms
