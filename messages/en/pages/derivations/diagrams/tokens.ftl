### Tokens on their way to experts and back: every rank waits for the one with most of them.

tokens-to-experts-and-back = Tokens to experts and back
where-tokens-go = { $tokens } tokens choose { $chosen } experts each, on { $ranks } ranks. A rank gets { $rows } rows on average, the most loaded { $fullest }, { $times } times as many. The layer goes on when that rank is done.
tokens-on-each-of-ranks = { $own } tokens on each of { $ranks } ranks,
experts-each-rows = { $chosen } experts each: { $sent } rows
combine-after-fullest = combine, after the most loaded rank: on average { $waits } waiting
back-where-they-came-from = back on the ranks that they came from
most-rows-of-rank = rows that a rank computes: at most { $most },
rows-on-average = { $mean } on average (line)
