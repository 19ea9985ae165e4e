### A deployment in short: verdict, what a user gets, how sure that is, and what to run instead.

own-cards = 自有卡
cards-rented-for-years = 长租卡
cards-rented-by-hour = 按小时租卡
both-pools = 两池合计，{ $cards } 张卡，在途 { $users } 个请求
in-flight =
    { $burst ->
        [yes] { $users } 个请求同时到达
       *[no] 稳态，在途 { $users } 个请求
    }
hypothetical-with-enough-memory = 假想：显存足够时
measured-and-how-far-off = { $found }[逐行对照]({ $where })。
move-it-in-calculators =
    <a href="{ $address }">在计算器中调整这个部署</a>{ $lacks ->
        [yes] 。{ $without }
       *[no] { "" }
    }
million-output-tokens = 每百万输出 token，{ $had }
nearest-that-runs = 改动最小
most-tokens-per-second = 吞吐最高
as-written = 按原文配置
four-bit-weights-are-read = 4 比特权重读取更快，但此处按 16 位相乘，峰值较低：预填充的计算更慢。
