### A goal, what its own users and latency leave of it, and what the cards give, to scale.

goal-and-what-there-is = 目标与实际，按比例
bars = 条形：{ $listed }。
bar = { $name }: { $rate }
