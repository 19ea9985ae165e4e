### What documents print of cost, recomputed from their own inputs, and corrected.

hardware =
    .en = hardware
    .zh = 硬件

annual-operating-cost =
    .en = annual operating cost
    .zh = 每年运营

three-years-not-discounted =
    .en = three years, not discounted
    .zh = 三年合计，未折现

tokens-per-second =
    .en = tokens per second
    .zh = 每秒 token 数

three-years-per-token-per =
    .en = three-year cost per token/s
    .zh = 三年成本 ÷（token/s）

million-tokens =
    .en = a million tokens
    .zh = 每百万 token

revenue-of-year =
    .en = revenue of a year
    .zh = 年收入

return-in-three-years =
    .en = return in three years
    .zh = 三年回报率

paid-back-after-years =
    .en = paid back after, years
    .zh = 回收期（年）

printed =
    .en = printed
    .zh = 文档所写

recomputed-from-its-inputs =
    .en = recomputed from its inputs
    .zh = 按其输入重算

corrected =
    .en = corrected
    .zh = 修正

idle-cards-save-only-their =
    .en = Idle cards save only their electricity, { $share } of the cost of owning them; the cheaper cards beside them have to be paid for the whole day, too.
    .zh = 闲置的卡最多只省下电费，即自有成本的 { $share }；另备的便宜卡也要全天付钱。

one-request =
    .en = one request
    .zh = 单请求

at-its-maximum-concurrency =
    .en = at its maximum concurrency
    .zh = 最大并发

cards-only =
    .en = cards only
    .zh = 只计卡

with-host =
    .en = with a host
    .zh = 计入主机

token-s-for-price-of =
    .en = token/s for the price of a card
    .zh = 每花一张卡的钱所得的 token/s

# number: the cards of the systems that are compared
two-cards-and-host-memory =
    .en = 2 cards and host memory
    .zh = 2 卡 + 主机内存
