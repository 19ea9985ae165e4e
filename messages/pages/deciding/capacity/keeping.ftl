### What the chapter on a day shows of conversations, of their tiers, and of how many to buy.

on-cards =
    .en = on the cards
    .zh = 卡上

drives =
    .en = drives
    .zh = 硬盘

up-to =
    .en = caches up to
    .zh = 缓存保留到

tokens-per-replica =
    .en = tokens per replica
    .zh = 每副本 token 数

kept-for-min =
    .en = kept for (min)
    .zh = 保留时间（min）

returns-found =
    .en = returning turns found, all tiers up to it
    .zh = 后续轮次命中的占比（累计至本级）

hits-all-tiers-so-far =
    .en = hit rate, all tiers up to it
    .zh = 输入 token 命中率（累计至本级）

compute-again =
    .en = compute again
    .zh = 重算

break-even =
    .en = break-even bandwidth
    .zh = 临界带宽（更快则取回快于重算）

link =
    .en = { $name }: { $link } GB/s, fetching is { $pays ->
        [yes] faster
       *[no] slower
    } than computing again (break-even at { $least } GB/s)
    .zh = { $name }：{ $link } GB/s，取回{ $pays ->
        [yes] 快于
       *[no] 慢于
    }重算（临界带宽 { $least } GB/s）

links =
    .en = Links: { $links }.
    .zh = 链路：{ $links }。

none-here =
    .en = none here
    .zh = 此处没有

from-hits-of =
    .en = from a hit rate of
    .zh = 所需命中率

reached-with-caches-up-to =
    .en = reached with caches up to
    .zh = 缓存保留到哪一级即可达到

layout-of-replica =
    .en = layout of a replica
    .zh = 副本布局

little-load-fast =
    .en = little load, fast
    .zh = 负载低、速度快

as-expected =
    .en = as expected
    .zh = 如预期

much-load-slow =
    .en = much load, slow
    .zh = 负载高、速度慢

largest-regret =
    .en = largest regret
    .zh = 最大后悔值

price-later-over-now =
    .en = price later over now
    .zh = 日后补购与现在购买的单价之比

least-regret =
    .en = least regret
    .zh = 最大后悔值最小

least-mean-cost =
    .en = least mean cost
    .zh = 期望成本最低

best-as-expected =
    .en = best if all is as expected
    .zh = 如预期时最优

regret-of-first-card-hours =
    .en = regret of the least-regret choice (card-hours a day)
    .zh = “最大后悔值最小”者的后悔值（卡时/天）

in-day =
    .en = in { $currency } a day
    .zh = 合 { $currency }/天

costs-are-in-card-hours =
    .en = Costs are in card-hours per day. Cases: the load is { $low }, { $central } or { $high } times what is expected; the cards are slow, as expected or fast.
    .zh = 成本以卡时/天计。各种情形：负载为预期的 { $low }、{ $central } 或 { $high } 倍；卡速为慢、如预期或快。

card-hour-costs-interval-is =
    .en = A card-hour costs { $prices } { $currency } ({ $source }); the interval is that of this price.
    .zh = 卡时价取 { $prices } { $currency }（{ $source }），区间即价格的区间。

tokens-kept-per-replica =
    .en = tokens kept per replica
    .zh = 每副本保留的 token 数

prompt-tokens-found =
    .en = prompt tokens found (%)
    .zh = 输入 token 命中（%）
