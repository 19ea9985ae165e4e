### What the documents' plans come to: which run, what runs instead, where an advantage ends.

users-at-exactly-any-hardware =
    .en = { $users } users at exactly { $limit }, any hardware
    .zh = { $users } 个用户、恰好每 { $limit } 一个 token，任何硬件

# number: the cards of the plan
users-on-cards-of-document =
    .en = { $users } users, its 32 H20 as they can run
    .zh = { $users } 个用户，32 张 H20 的可运行方案

goal-of-s1-for-users =
    .en = the goal of S1 for { $users } users
    .zh = S1 为 { $users } 个用户定的目标

yes =
    .en = yes
    .zh = 可以

no =
    .en = no
    .zh = 不能

as-written =
    .en = as written
    .zh = 按所写

nothing-found =
    .en = nothing found
    .zh = 未找到

runs-as-written =
    .en = runs as written
    .zh = 照所写能否运行

throughput-printed =
    .en = throughput printed
    .zh = 文档的吞吐

nearest-change-that-runs =
    .en = nearest change that runs
    .zh = 能运行的最小改动

gives-tpot =
    .en = gives; TPOT
    .zh = 吞吐；TPOT

best-of-search =
    .en = best of a search
    .zh = 搜索所得最优

command-of-each-that-search =
    .en = The command of each that a search found
    .zh = 搜索所得各方案的命令
