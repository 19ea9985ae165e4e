### What the chapter on the choice of a deployment shows of fronts: by device, by price, by group.

no-front-to-draw =
    .en = Nothing meets the goal, so there is no front to draw.
    .zh = 没有满足目标的部署，也就没有前沿可画。

tpot-at-most =
    .en = TPOT at most
    .zh = TPOT 上限

# number: the intervals of all answers
cost-interval-of-tokens =
    .en = { $currency } per 10⁶ output tokens at full load (80%)
    .zh = 满载时每 10⁶ 输出 token 成本，{ $currency }（80%）

what-binds =
    .en = bottleneck
    .zh = 瓶颈

most-per-card =
    .en = most throughput per card, at any TPOT
    .zh = 每卡最高吞吐（不限 TPOT）

price-of-card-h =
    .en = price of a card, { $currency }/h
    .zh = 每卡价格，{ $currency }/h

cost-of-tokens =
    .en = { $currency } per 10⁶ output tokens at full load
    .zh = 满载时每 10⁶ 输出 token 成本，{ $currency }

price-at-which-it-would =
    .en = price at which it would match the cheapest, { $currency }/h
    .zh = 成本与最低者持平时的卡价，{ $currency }/h

every-other-card =
    .en = Every other card
    .zh = 其余各卡

no-front =
    .en = Nothing meets the goal, so there is no front.
    .zh = 没有满足目标的部署，也就没有前沿。

best-of =
    .en = the best { $first } of { $size }
    .zh = 前 { $first } 个，共 { $size } 个

all =
    .en = all { $size }
    .zh = 全部 { $size } 个

chunk =
    .en = chunk
    .zh = 分块

others-like-it =
    .en = others indistinguishable from it
    .zh = 分不出高下的其他方案数

front-of-this-goal-in =
    .en = The front of this goal in groups: { $which }
    .zh = 本目标的前沿，分组列出：{ $which }

throughput-per-card-token-s =
    .en = throughput per card (token/s)
    .zh = 每卡吞吐（token/s）

cheapest-per-tokens =
    .en = cheapest, { $currency } per 10⁶ tokens:
    .zh = 最低成本，{ $currency } / 10⁶ token：

what-binds-decode-step =
    .en = bottleneck of a decode step
    .zh = 解码步的瓶颈
