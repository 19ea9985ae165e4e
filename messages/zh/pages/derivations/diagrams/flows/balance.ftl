### Load of every rank before and after experts are balanced, sorted, on one scale.

experts-before-and-after = 均衡前后各 rank 的负载
what-balancing-gains = { $ranks } 个 rank 的负载，从高到低。专家按编号放置时，负载最高的 rank 为平均的 { $before } 倍；按实测负载放置并加 { $spares } 个冗余专家后为 { $after } 倍。
index-order = 按编号放置：负载最高的 rank 为平均的 { $times } 倍
placed-by-load = 按实测负载，加 { $spares } 个冗余专家：{ $times } 倍
line-is-mean = 横线：平均
