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

all-of-them =
    .en = all of them together, at central values (the table above has medians)
    .zh = 以上各项同时修正（按中心值；上表为中位数）

throughput-what-these-users-reach =
    .en = throughput: what these users reach, instead of the printed one
    .zh = 吞吐：这些用户实际可达的速率，取代文档所写

utilisation-day-load-instead-of =
    .en = utilisation: a day's load instead of full rate every second
    .zh = 利用率：按一天的负载曲线，取代全天满载

servers-dealers-prices-with-spares =
    .en = servers: dealers' prices, with spares, network, racks and storage
    .zh = 服务器：经销商报价，并计备机、网络、机架与存储

electricity-whole-site-instead-of =
    .en = electricity: the whole site instead of the cards alone
    .zh = 电费：整个机房，取代仅计卡

repairs-which-document-leaves-out =
    .en = repairs, which the document leaves out
    .zh = 维修，文档未计

people-shared-with-other-servers =
    .en = people: shared with other servers, instead of two for four servers
    .zh = 人员：与其他服务器分摊，取代四台服务器配两人

space-by-power-that-is =
    .en = space: charged by the power reserved
    .zh = 机房：按预留功率计

what-is-corrected =
    .en = what is corrected, each alone
    .zh = 修正的内容（逐项单独修正）

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
