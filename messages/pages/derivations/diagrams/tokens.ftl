### Tokens on their way to experts and back: every rank waits for the one with most of them.

tokens-to-experts-and-back =
    .en = Tokens to experts and back
    .zh = token 去专家处再回来

where-tokens-go =
    .en = { $tokens } tokens choose { $chosen } experts each, on { $ranks } ranks. A rank gets { $rows } rows on average, the most loaded { $fullest }, { $times } times as many. The layer goes on when that rank is done.
    .zh = { $tokens } 个 token 各选 { $chosen } 个专家，分布在 { $ranks } 个 rank 上。平均每个 rank 收到 { $rows } 行，负载最高的 { $fullest } 行，为平均的 { $times } 倍；它算完，这一层才能继续。

tokens-on-each-of-ranks =
    .en = { $own } tokens on each of { $ranks } ranks,
    .zh = { $ranks } 个 rank，各有 { $own } 个 token，

experts-each-rows =
    .en = { $chosen } experts each: { $sent } rows
    .zh = 每个选 { $chosen } 个专家：共 { $sent } 行

combine-after-fullest =
    .en = combine, after the most loaded rank: on average { $waits } waiting
    .zh = 负载最高的 rank 算完才合并：平均 { $waits } 的时间在等

back-where-they-came-from =
    .en = back on the ranks that they came from
    .zh = 回到原来的 rank

most-rows-of-rank =
    .en = rows that a rank computes: at most { $most },
    .zh = 各 rank 要算的行数：最多 { $most }，

rows-on-average =
    .en = { $mean } on average (line)
    .zh = 平均 { $mean }（横线）
