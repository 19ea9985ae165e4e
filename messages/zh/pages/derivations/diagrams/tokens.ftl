### Tokens on their way to experts and back: every rank waits for the one with most of them.

tokens-to-experts-and-back = token 去专家处再回来
where-tokens-go = { $tokens } 个 token 各选 { $chosen } 个专家，分布在 { $ranks } 个 rank 上。平均每个 rank 收到 { $rows } 行，负载最高的 { $fullest } 行，为平均的 { $times } 倍；它算完，这一层才能继续。
tokens-on-each-of-ranks = { $ranks } 个 rank，各有 { $own } 个 token，
experts-each-rows = 每个选 { $chosen } 个专家：共 { $sent } 行
combine-after-fullest = 负载最高的 rank 算完才合并：平均 { $waits } 的时间在等
back-where-they-came-from = 回到原来的 rank
most-rows-of-rank = 各 rank 要算的行数：最多 { $most }，
rows-on-average = 平均 { $mean }（横线）
