### Risk: what of S1's plan may go wrong, how surely and how much, and what to measure before buying.

# number: of the stage, and its users
stage-1 =
    .en = 1: one server, 4 users
    .zh = 一：单机，4 个用户

# number: of the stage, and its users
stage-2 =
    .en = 2: four servers, 80 users
    .zh = 二：四机，80 个用户

# number: of the stage, and its users
stage-3 =
    .en = 3: production, 320 users
    .zh = 三：生产，320 个用户

goal-of-stages =
    .en = goal of the stages
    .zh = 阶段目标

alert =
    .en = alert
    .zh = 告警下限

output-token-s-of-h20 =
    .en = output token/s of { $cards } H20
    .zh = { $cards } 张 H20 的输出 token/s

probability-to-reach-it =
    .en = probability of reaching it (%)
    .zh = 达到的概率（%）

certain =
    .en = certain
    .zh = 必然

no-source =
    .en = no source
    .zh = 无来源

rate-between =
    .en = { $rate } token/s ({ $low }–{ $high })
    .zh = { $rate } token/s（{ $low }–{ $high }）

in-year =
    .en = { $share } in a year
    .zh = 一年内 { $share }

all-four-servers-stop-of =
    .en = all four servers stop, { $share } of the time
    .zh = 四台一起停，占时间的 { $share }

servers-at-dealers-prices =
    .en = servers at dealers' prices
    .zh = 服务器按经销商报价

servers-fifth-dearer-three-months =
    .en = servers a fifth dearer; three months' delay costs less
    .zh = 服务器涨价两成；晚到三个月影响更小

two-years-of-use-instead =
    .en = two years of use instead of three
    .zh = 只用两年而非三年

risk =
    .en = risk
    .zh = 风险

s1-likely-impact =
    .en = S1: likelihood / impact
    .zh = S1：概率 / 影响

its-priority =
    .en = S1: priority
    .zh = S1 的优先级

likely-computed =
    .en = likelihood, computed
    .zh = 概率（计算）

if-it-comes =
    .en = if it happens
    .zh = 若发生

order-by-cost =
    .en = order by cost
    .zh = 按影响排序

missing-card-costs-later =
    .en = a card bought later costs
    .zh = 日后补购价

chance-of-being-wrong =
    .en = chance that another number is better
    .zh = 事后看买错的概率

input-known-saves-at-most =
    .en = knowing one input saves, at most (cards)
    .zh = 若准确得知某项输入，至多可省（卡）

requests-at-their-longest-that =
    .en = requests of maximum length that fit
    .zh = 可容纳的请求数（均按最长计）

ttft-mean-between =
    .en = TTFT, mean, between
    .zh = TTFT 均值介于

tpot-mean-between =
    .en = TPOT, mean, between
    .zh = TPOT 均值介于

output-token-s-between =
    .en = output token/s, between
    .zh = 输出 token/s 介于

goal-of-s1-token-s =
    .en = goal of S1: token/s, TTFT, TPOT
    .zh = S1 目标：token/s、TTFT、TPOT

captured-graphs =
    .en = captured graphs, as S1's commands have them
    .zh = 图捕获（按 S1 的命令）

prediction-holds-if =
    .en = prediction holds if
    .zh = 预测成立的条件
