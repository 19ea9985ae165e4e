### The whole bill of one request.

what = 一个请求用掉
bytes = 每卡显存读写
operations = 运算，全部卡
collectives = all-reduce 次数
energy = 能耗，全部卡
money = 成本，美分
whole = 合计
prompt-step = 处理输入的一步
one-step = 输出的每一步
in-ms-prompt = 输入，ms
in-ms-step = 输出，ms
time-to-scale = 一个请求的计算步由什么构成
