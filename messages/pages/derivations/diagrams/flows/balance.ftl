### Load of every rank before and after experts are balanced, sorted, on one scale.

experts-before-and-after =
    .en = Load of each rank before and after balancing
    .zh = 均衡前后各 rank 的负载

what-balancing-gains =
    .en = Loads of { $ranks } ranks, sorted. With experts in index order the most loaded rank has { $before } times the mean; placed by measured load with { $spares } redundant experts, { $after } times.
    .zh = { $ranks } 个 rank 的负载，从高到低。专家按编号放置时，负载最高的 rank 为平均的 { $before } 倍；按实测负载放置并加 { $spares } 个冗余专家后为 { $after } 倍。

index-order =
    .en = index order: most loaded rank { $times } times the mean
    .zh = 按编号放置：负载最高的 rank 为平均的 { $times } 倍

placed-by-load =
    .en = by measured load, { $spares } redundant experts: { $times } times
    .zh = 按实测负载，加 { $spares } 个冗余专家：{ $times } 倍

line-is-mean =
    .en = line: the mean
    .zh = 横线：平均
