### Host: what a server needs beside its cards, and experts computed by processors or by more cards.

token-s-for-price-of =
    .en = token/s for the price of a card
    .zh = 每张卡的价钱换得的 token/s

# number: the cards of the systems that are compared
two-cards-and-host-time =
    .en = 2 cards and host, time per token
    .zh = 两卡加主机，每 token

# number: the cards of the systems that are compared
eight-cards-time-per-token =
    .en = 8 cards, time per token
    .zh = 八卡，每 token

# number: the cards of the systems that are compared
token-s-per-card-price =
    .en = token/s for the price of one card, with a server at { $host } cards: 2 cards and host, measured
    .zh = 每张卡的价钱换得的 token/s，空机按 { $host } 张卡计：两卡加主机（实测）

# number: the cards of the systems that are compared
eight-cards-predicted =
    .en = 8 cards, predicted
    .zh = 八卡（预测）

empty-server-below-in-cards =
    .en = hybrid pays if the server without cards costs less than this many cards (–: not even if it were free)
    .zh = 空机价须低于（折合卡数；–：白送也不划算）

same-cny =
    .en = the same, CNY
    .zh = 空机价须低于（元）

users =
    .en = { $users ->
        [one] { $users } user
       *[other] { $users } users
    }
    .zh = { $users } 个用户

two-sockets-of =
    .en = two sockets of
    .zh = 双路处理器

gb-s-of-socket =
    .en = GB/s per socket
    .zh = 每路 GB/s

users-within =
    .en = users within { $limit } (median)
    .zh = 中位数 { $limit } 以内的最多用户数

host-memory-takes-no-time =
    .en = host memory takes no time
    .zh = 主机内存不耗时

cores-multiply-in-no-time =
    .en = cores multiply in no time
    .zh = CPU 乘法不耗时

pcie-takes-no-time =
    .en = PCIe takes no time
    .zh = PCIe 不耗时

no-hand-over-between-card =
    .en = no hand-over between card and host
    .zh = 卡与主机无交接开销

all-of-it-overlaps-with =
    .en = all host work overlaps with the cards
    .zh = 主机与卡完全重叠

none-of-it-overlaps =
    .en = no host work overlaps
    .zh = 主机与卡完全不重叠

time-per-token-ms =
    .en = { $host }: time per token, ms, central value (below the median)
    .zh = { $host }：每 token 时间（ms），中心值，低于中位数

two-kunpeng-at-once =
    .en = 2×910B4-1 + Kunpeng, { $users } at once
    .zh = 2×910B4-1 + 鲲鹏，并发 { $users }

sockets =
    .en = sockets
    .zh = 路数

ms-per-token-measured =
    .en = ms per token, measured
    .zh = 每 token ms（实测）

measured-hybrid-systems =
    .en = Measured hybrid systems, one request where nothing else is stated
    .zh = 混合系统实测（未注明者为单请求）

routed-experts-in =
    .en = routed experts in
    .zh = 路由专家格式

once =
    .en = stored once
    .zh = 一份

copy-in-each-of-two =
    .en = a copy in each of two sockets
    .zh = 双路各一份

copies-of-measured-system =
    .en = copies in the system measured with it
    .zh = 以该格式实测的系统存几份

us-for-operator-users =
    .en = { $users ->
        [one] longest launch of an operator that holds up no card, µs, { $users } user
       *[other] longest launch of an operator that holds up no card, µs, { $users } users
    }
    .zh = { $users } 个用户，下发一个算子的用时上限，µs

taken-of-these-hosts-us =
    .en = launch assumed for these hosts, µs
    .zh = 下发一个算子，本书取值，µs
