### A quantity of several deployments side by side: derived with its interval, and documented.

derived-and-documented =
    .en = Derived and documented
    .zh = 推导值与文档值

# number: the intervals of all answers
points-are-derived-lines-their =
    .en = { $heading }: points are derived, lines their 80% intervals, crosses documented.
    .zh = { $heading }：点为推导值，横线为其 80% 区间，叉为文档值。

# number: the intervals of all answers
derived-interval =
    .en = derived, 80% interval
    .zh = 推导值与 80% 区间

documented =
    .en = documented
    .zh = 文档值
