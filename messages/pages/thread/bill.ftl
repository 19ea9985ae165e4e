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
    .en = all-reduces
    .zh = all-reduce 次数

energy =
    .en = energy, all cards
    .zh = 能耗，全部卡

money =
    .en = money, US cents
    .zh = 成本，美分

whole =
    .en = whole
    .zh = 合计

prompt-step =
    .en = the step of the prompt
    .zh = 处理输入的一步

one-step =
    .en = each step of the answer
    .zh = 输出的每一步

in-ms-prompt =
    .en = input, ms
    .zh = 输入，ms

in-ms-step =
    .en = output, ms
    .zh = 输出，ms

time-to-scale =
    .en = What the steps of one request are made of
    .zh = 一个请求的计算步由什么构成
