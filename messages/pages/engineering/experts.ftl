### Expert parallelism: how wide, how many redundant experts, two micro-batches or not, experts off the cards or not.

placed-at-random =
    .en = placed at random
    .zh = 随机分配

placed-by-load =
    .en = placed by load
    .zh = 按负载放置

and-one-spare-rank =
    .en = placed by load, one redundant expert per rank
    .zh = 另加每 rank 一个冗余专家

and-micro-batches =
    .en = and two micro-batches (TBO/DBO)
    .zh = 再加双 micro-batch（TBO/DBO）

random =
    .en = random
    .zh = 随机

spares =
    .en = with redundant experts
    .zh = 加冗余专家

spares-micro-batches =
    .en = redundant, TBO
    .zh = 冗余专家，TBO

experts-sharded =
    .en = experts sharded
    .zh = 专家 TP 切分

cards-that-share-experts =
    .en = cards that share the experts
    .zh = 分摊专家的卡数

token-s-of-card =
    .en = token/s of a card
    .zh = 单卡 token/s

token-s-of-card-at-best =
    .en = token/s of a card, best placement and attention TP
    .zh = 单卡 token/s，取最好的专家放置与注意力 TP

rate-cut-and-way =
    .en = **{ $rate }**<br>TP{ $tensor }, { $way }
    .zh = **{ $rate }**<br>TP{ $tensor }，{ $way }

always =
    .en = always
    .zh = 始终

ep32-better-from =
    .en = EP32 better from
    .zh = EP32 占优起点

experts-of-rank =
    .en = experts of a rank
    .zh = 每 rank 专家数

of-these-hit-by-step =
    .en = of these selected in a step
    .zh = 其中每步被选中的个数

fullest-over-mean =
    .en = most loaded rank over mean, { $mode }
    .zh = 负载最高的 rank 超出平均，{ $mode }

token-s-of-card-ep =
    .en = token/s of a card, EP{ $width }, without two micro-batches
    .zh = 单卡 token/s，EP{ $width }，不用双 micro-batch

spares-of-rank =
    .en = by load, { $count } { $count ->
        [one] redundant expert
       *[other] redundant experts
    } per rank
    .zh = 按负载，每 rank { $count } 个冗余专家

memory-of-one =
    .en = memory of one redundant expert
    .zh = 每 rank 一个冗余专家所占显存

device-and-width =
    .en = { $device }, EP{ $width }
    .zh = { $device }，EP{ $width }

measured-decode-pool =
    .en = measured decode pool
    .zh = 实测的解码池

predicted-over-measured =
    .en = token/s: predicted over measured
    .zh = token/s：预测 / 实测

where-it-was-measured-predicted =
    .en = Where it was measured: predicted over measured
    .zh = 有实测的解码池：预测与实测之比

none-suffices =
    .en = none suffices
    .zh = 取上限也不够

requests-of-replica =
    .en = requests of a replica
    .zh = 每副本请求数

hit-rate-needed =
    .en = hit rate needed for a TPOT of { $limit }
    .zh = TPOT 不超过 { $limit } 所需的命中率

most-popular-kept =
    .en = hit rate, most popular on cards (worked out for { $few } and { $many })
    .zh = 常驻最热门专家的命中率（只算 { $few } 与 { $many }）

tpot-kept-at-random =
    .en = TPOT, random experts on cards
    .zh = TPOT，随机常驻

tpot-best-there-is =
    .en = TPOT, best possible hit rate
    .zh = TPOT，命中率取上限

tpot-all-on-cards =
    .en = TPOT, all experts on cards
    .zh = TPOT，全在卡上

measurements =
    .en = measurements
    .zh = 实测数
