### Watching: how long an alert has to hold, and how long a probe has to wait for a server.

one-request =
    .en = one request
    .zh = 一个请求

requests-in =
    .en = requests in { $window }
    .zh = { $window } 内的请求数

scatter-of-their-mean-ttft =
    .en = standard deviation of their mean TTFT
    .zh = 这些请求 TTFT 均值的标准差

# number: the intervals of all answers
window-needed-threshold-from-interval =
    .en = window needed, threshold from the 80% interval
    .zh = 所需窗口：阈值取 80% 区间上限

window-needed-beyond-bench =
    .en = window needed, threshold { $by } beyond a benchmark
    .zh = 所需窗口：阈值比压测结果差 { $by }

is-taken-at-start-and =
    .en = nothing: { $share } is taken at the start and stays taken
    .zh = 启动时占 { $share }，此后不变，等多久都一样

hours-of-day-are-quieter =
    .en = as written the alert never fires: no release has its metric. On a metric that exists, waiting so long would not do: throughput is below { $limit } token/s for { $hours } hours of a day
    .zh = 照原文永不触发（指标不存在）；换成实有的指标，等这么久也不够：一天有 { $hours } 小时吞吐低于阈值 { $limit } token/s，照样触发

predicted-fires-always-only-later =
    .en = as written the alert never fires: no release has its metric. On a metric that exists, it would always fire, only later: { $ttft } is predicted, above its threshold of { $limit }
    .zh = 照原文永不触发（指标不存在）；换成实有的指标则总会触发，只是晚一点：TTFT 预测为 { $ttft }，高于阈值 { $limit }

s1-has-no-alert-on =
    .en = S1 has no alert for a server that is down
    .zh = S1 没有服务失联告警

its-for =
    .en = its `for`
    .zh = 告警的 `for`

what-waiting-does-there =
    .en = what waiting changes
    .zh = 等待的作用

waits-while-busy =
    .en = { $hold }, { $busy } of requests in flight
    .zh = { $hold }，且在途请求不少于预测的 { $busy }

waits-on-mean =
    .en = { $hold }, mean of { $window }
    .zh = { $hold }，取 { $window } 均值

written-by-deploy =
    .en = written by `deploy`
    .zh = `deploy` 生成的 `for`

kills-it-while-it-loads =
    .en = kills it while it loads
    .zh = 加载未完即被判为失败

may-kill-it =
    .en = may kill it
    .zh = 可能误杀

waits =
    .en = waits
    .zh = 等得到

probe =
    .en = probe
    .zh = 探测

interval-timeout =
    .en = interval / timeout
    .zh = 间隔 / 超时

answers-after =
    .en = server answers after
    .zh = 启动多久后才应答

if-one-failure-restarts =
    .en = if one failure restarts
    .zh = 若一次失败即重启

failures-to-allow-at-start =
    .en = failures to allow at the start
    .zh = 启动时应容许的失败次数
