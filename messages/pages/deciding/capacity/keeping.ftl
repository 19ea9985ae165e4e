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

tokens-kept-per-replica =
    .en = tokens kept per replica
    .zh = 每副本保留的 token 数

prompt-tokens-found =
    .en = prompt tokens found (%)
    .zh = 输入 token 命中（%）
