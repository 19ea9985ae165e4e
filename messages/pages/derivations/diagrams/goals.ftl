### A goal, what its own users and latency leave of it, and what the cards give, to scale.

goal-and-what-there-is =
    .en = A goal and what there is of it, to scale
    .zh = 目标与实际，按比例

bars =
    .en = Bars: { $listed }.
    .zh = 条形：{ $listed }。

bar =
    .en = { $name }: { $rate }
    .zh = { $name }: { $rate }
