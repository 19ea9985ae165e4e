### A quantity of several deployments side by side: derived with its interval, and documented.

derived-and-documented = 推导值与文档值
# number: the intervals of all answers
points-are-derived-lines-their = { $heading }：点为推导值，横线为其 80% 区间，叉为文档值。
# number: the intervals of all answers
derived-interval = 推导值与 80% 区间
documented = 文档值
