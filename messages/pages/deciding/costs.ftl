### Tables and pictures of the chapter on cost: prices, tokens against utilisation, energy, power.

own =
    .en = own
    .zh = 自有

rent-for-years =
    .en = rent for years
    .zh = 长租

rent-by-hour =
    .en = rent by the hour
    .zh = 按小时租

between-kernels =
    .en = between kernels
    .zh = 算子间隙

streaming-weights =
    .en = streaming weights
    .zh = 读权重

dense-matmuls =
    .en = dense matmuls
    .zh = 稠密矩阵乘

grouped-matmuls =
    .en = grouped matmuls, with reading the experts
    .zh = 分组矩阵乘（含读专家权重）

collectives =
    .en = collectives
    .zh = 集合通信

all =
    .en = all
    .zh = 全天

off-peak =
    .en = off-peak
    .zh = 非高峰

peak =
    .en = peak
    .zh = 高峰

never =
    .en = never
    .zh = 达不到

today =
    .en = today
    .zh = 现在

usd-per-million-prompt-found =
    .en = USD per million: prompt / found in its cache / answer
    .zh = 每百万 token（美元）：输入 / 缓存命中 / 输出

owning-is-cheaper-from =
    .en = your own R1 is cheaper from a utilisation of
    .zh = 自有 R1 更便宜所需的利用率

not-found =
    .en = not found
    .zh = 未找到

million-at-published-hour =
    .en = a million output tokens at the published hour of owning, USD
    .zh = 每百万输出 token，按公布的自有小时价（美元）

million-at-hardware-prices =
    .en = at hardware prices, USD
    .zh = 按硬件报价折算（美元）

hour-of-hardware =
    .en = a card's hour at hardware prices, USD
    .zh = 按硬件报价折算的卡时价（美元）

price-of-server =
    .en = price of a server or its cards by
    .zh = 整机或卡的报价来源

one-quote =
    .en = { $quote } (one quote)
    .zh = { $quote }（仅一家报价）

sources =
    .en = sources
    .zh = 来源

api-price =
    .en = API price, { $model }
    .zh = API 价格（{ $model }）

share-of-throughput-that-is =
    .en = share of the throughput that is used (%)
    .zh = 吞吐利用率（%）

usd-per-million-output-tokens =
    .en = USD per million output tokens
    .zh = 每百万输出 token（美元）

chat =
    .en = chat
    .zh = 聊天

long-answers =
    .en = long answers
    .zh = 长输出

task =
    .en = task
    .zh = 任务

measured =
    .en = { $what }, measured
    .zh = { $what }（实测）

predicted =
    .en = { $what }, predicted
    .zh = { $what }（预测）

all-rows =
    .en = All rows
    .zh = 全部数据

measured-j-per-token =
    .en = measured (J per token)
    .zh = 实测（J/token）

predicted-j-per-token =
    .en = predicted (J per token)
    .zh = 预测（J/token）

while-it-is =
    .en = kind of work
    .zh = 工作类型

decode-step-of-this-server =
    .en = a decode step of this server
    .zh = 这台服务器的一个解码步
