### Monitoring: what each bottleneck does to each metric of one deployment, and five alerts.

at-half =
    .en = at half
    .zh = 降到一半

at-quarter =
    .en = at a quarter
    .zh = 降到四分之一

matrix-units-slow-clock-power =
    .en = matrix units slow (clock, power cap)
    .zh = 矩阵单元变慢（降频、限功耗）

memory-of-cards-slow =
    .en = memory of the cards slow
    .zh = 显存带宽下降

links-between-cards-slow =
    .en = links between cards slow
    .zh = 卡间链路变慢

collectives-start-slowly =
    .en = collectives start slowly
    .zh = 集合通信启动变慢

times =
    .en = { $times } times
    .zh = { $times } 倍

host-slow-between-steps =
    .en = host slow between steps
    .zh = 主机在两步之间变慢

graphs-off-host-starts-each =
    .en = graphs off, host starts each operator
    .zh = 未启用图模式，主机逐个下发

experts-unevenly-loaded-ep8 =
    .en = experts unevenly loaded (EP8)
    .zh = 专家负载不均（EP8）

as-they-fall =
    .en = at random
    .zh = 随机分配

longer-prompts =
    .en = longer prompts
    .zh = 输入变长

twice =
    .en = twice
    .zh = 加倍

longer-answers =
    .en = longer answers
    .zh = 输出变长

more-requests-at-once =
    .en = more requests at once
    .zh = 并发增多

fewer-blocks-for-cache =
    .en = fewer blocks for the cache
    .zh = KV 块变少

tpot-one-request =
    .en = TPOT, one request
    .zh = TPOT（单请求）

kv-share =
    .en = KV share
    .zh = KV 占用

before-token =
    .en = await 1st token
    .zh = 等首 token 的请求数

cause =
    .en = { $cause }, { $severity }
    .zh = { $cause }，{ $severity }

metric-of-vllm =
    .en = metric of vLLM
    .zh = vLLM 指标

if-it-fires =
    .en = likely cause
    .zh = 触发时的可能原因

# number: the window of `deploy`
ttft-mean-above =
    .en = TTFT, mean of 5 min, above
    .zh = TTFT 5 分钟均值高于

prompts-compute-links-or-queue =
    .en = prompts, compute, links, or a queue
    .zh = prefill、算力、链路或排队

# number: the window of `deploy`
tpot-mean-above =
    .en = TPOT, mean of 5 min, above
    .zh = TPOT 5 分钟均值高于

memory-links-host-or-more =
    .en = memory, links, the host, or more requests
    .zh = 显存、链路、主机或并发增多

token-s-below-at-full =
    .en = token/s below, at full load
    .zh = 满载时 token/s 低于

any-of-these-for-all =
    .en = any of these, for all users
    .zh = 以上任一，影响全体用户

kv-share-above =
    .en = KV share above
    .zh = KV 占用高于

longer-texts-than-planned =
    .en = longer texts than planned
    .zh = 请求比计划的长

preemptions-per-second-above =
    .en = preemptions per second above
    .zh = 每秒抢占高于

cache-is-full-work-is =
    .en = the cache is full: work is done twice
    .zh = 缓存已满，计算重复进行

worse-by-factor-of =
    .en = { $of }: how much worse before an alert fires (–: none does)
    .zh = { $of }：各原因恶化到几倍才告警（–：都不触发）

fires-by-limits-of-service =
    .en = limits of the service
    .zh = 阈值取承诺的限值

fires-thresholds-beyond-bench =
    .en = thresholds { $by } beyond a benchmark
    .zh = 阈值比压测结果差 { $by }

time-between-tokens =
    .en = time between tokens
    .zh = token 间隔

time-per-output-token-of =
    .en = time per output token of a request
    .zh = 请求的每 token 时间

output-tokens =
    .en = output tokens
    .zh = 输出 token

requests-running =
    .en = requests running
    .zh = 运行中请求

requests-waiting =
    .en = requests waiting
    .zh = 等待中请求

share-of-kv-cache =
    .en = share of the KV cache
    .zh = KV 占用

preemptions =
    .en = preemptions
    .zh = 抢占

prefix-hits =
    .en = prefix hits
    .zh = 前缀命中

drafts-accepted =
    .en = MTP tokens accepted
    .zh = MTP 接受率

time-in-queue =
    .en = time in the queue
    .zh = 排队时间

operations-as-engine-estimates-them =
    .en = operations, as the engine estimates them
    .zh = 运算量（引擎估算）

bytes-read-as-engine-estimates =
    .en = bytes read, as the engine estimates them
    .zh = 读取字节（引擎估算）

uneven-tokens-of-data-parallel =
    .en = token imbalance of data-parallel ranks
    .zh = 各数据并行 rank 的 token 不均

metrics-by-release-of-vllm =
    .en = Metrics by release of vLLM and SGLang
    .zh = 各版本 vLLM 与 SGLang 的指标

run-healthy-and-failing =
    .en = tried on healthy and failing servers
    .zh = 在正常与故障的服务器上试算：阈值条数
