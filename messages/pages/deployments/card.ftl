### A deployment in short: verdict, what a user gets, how sure that is, and what to run instead.

own-cards =
    .en = own cards
    .zh = 自有卡

cards-rented-for-years =
    .en = cards rented for years
    .zh = 长租卡

cards-rented-by-hour =
    .en = cards rented by the hour
    .zh = 按小时租卡

both-pools =
    .en = Both pools, { $cards } cards, { $users } requests in flight
    .zh = 两池合计，{ $cards } 张卡，在途 { $users } 个请求

in-flight =
    .en = { $burst ->
        [yes] { $users } requests that arrive together
       *[no] In a steady state of { $users } requests in flight
    }
    .zh = { $burst ->
        [yes] { $users } 个请求同时到达
       *[no] 稳态，在途 { $users } 个请求
    }

hypothetical-with-enough-memory =
    .en = hypothetical, with enough memory
    .zh = 假想：显存足够时

class-what-was-measured-and =
    .en = Class: { $kind } ([what was measured, and how far off]({ $where })).{ $narrow }
    .zh = 所属类别：{ $kind }（[该类实测了什么、误差多大]({ $where })）。{ $narrow }

rows-are-fewer-than-four =
    .en = { " " }{ $counts } rows are fewer than four in five: take these intervals as too narrow.
    .zh = { $counts }落入区间，不足五分之四，故这些区间偏窄。

move-it-in-calculators =
    .en = <a href="{ $address }">Move it in the calculators</a>{ $lacks ->
        [yes] .{ " " }{ $without }
       *[no] { "" }
    }
    .zh = <a href="{ $address }">在计算器中调整这个部署</a>{ $lacks ->
        [yes] 。{ $without }
       *[no] { "" }
    }

not-measured =
    .en = not measured
    .zh = 未实测

million-output-tokens =
    .en = a million output tokens, { $had }
    .zh = 每百万输出 token，{ $had }

nearest-that-runs =
    .en = nearest that runs
    .zh = 改动最小

most-tokens-per-second =
    .en = most tokens per second
    .zh = 吞吐最高

as-written =
    .en = as written
    .zh = 按原文配置

four-bit-weights-are-read =
    .en = 4-bit weights are read faster, but here they are multiplied in 16 bits, at a lower peak: the arithmetic of prefill takes longer.
    .zh = 4 比特权重读取更快，但此处按 16 位相乘，峰值较低：预填充的计算更慢。

rows-inside =
    .en = { $inside } of { $rows }
    .zh = { $rows } 行中 { $inside } 行
