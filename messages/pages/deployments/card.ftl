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

measured-and-how-far-off =
    .en = { $found } [Every row]({ $where }).
    .zh = { $found }[逐行对照]({ $where })。

move-it-in-calculators =
    .en = <a href="{ $address }">Move it in the calculators</a>{ $lacks ->
        [yes] .{ " " }{ $without }
       *[no] { "" }
    }
    .zh = <a href="{ $address }">在计算器中调整这个部署</a>{ $lacks ->
        [yes] 。{ $without }
       *[no] { "" }
    }

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
