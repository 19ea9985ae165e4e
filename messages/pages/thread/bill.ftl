### The whole bill of one request.

what =
    .en = what one request takes
    .zh = 一个请求用掉

bytes =
    .en = memory traffic of a card
    .zh = 每卡显存读写

operations =
    .en = operations, all cards
    .zh = 运算，全部卡

collectives =
    .en = collectives
    .zh = 集合通信次数

energy =
    .en = energy, all cards
    .zh = 能耗，全部卡

money =
    .en = money, US cents
    .zh = 成本，美分

whole =
    .en = whole
    .zh = 合计

request =
    .en = the request
    .zh = 整个请求

one-step =
    .en = one decode step
    .zh = 一个解码步

in-ms-request =
    .en = request, ms
    .zh = 请求，ms

in-ms-step =
    .en = step, ms
    .zh = 一步，ms

time-to-scale =
    .en = The time of one request and of one of its decode steps
    .zh = 一个请求的时间，以及其中一个解码步的时间
