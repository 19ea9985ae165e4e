### A goal, what its own users and latency leave of it, and what the cards give, to scale.

goal-and-what-there-is = A goal and what there is of it, to scale
bars = Bars: { $listed }.
bar = { $name }: { $rate }
