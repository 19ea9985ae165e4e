### From scenario to service: a deployment's files and thresholds, the documents' beside them.

what-is-where-predicted-and =
    .en = contents, predictions and assumptions
    .zh = 目录说明、预测与前提

differences-to-a-published-recipe =
    .en = differences to the nearest published recipe, with reasons
    .zh = 与最接近的公开配方的差异及原因

what-operator-sets =
    .en = what the operator sets
    .zh = 由运维人员填写

settings-with-reasons-predictions-thresholds =
    .en = settings with reasons, predictions, thresholds
    .zh = 设置及理由、预测、阈值

script-and-environment-per-node =
    .en = a script and an environment per node
    .zh = 每台服务器一份脚本与环境

before-several-servers =
    .en = in front of several servers
    .zh = 多个服务实例之前的路由

checksums-of-files =
    .en = checksums of the other files
    .zh = 其他文件的校验和

scraping-and-alerts =
    .en = scraping, alerts
    .zh = 抓取配置、告警

container-per-node =
    .en = Compose: a container per node
    .zh = Compose：每个节点一个容器

pods-and-alerts =
    .en = Kubernetes: pods, Services, alerts
    .zh = Kubernetes：Pod、Service、告警

measurements-with-what-is-predicted =
    .en = benchmarks with their predictions
    .zh = 压测计划与各项预测

path =
    .en = path
    .zh = 路径

files =
    .en = files
    .zh = 文件数

# number: the intervals of all answers
predicted =
    .en = predicted, 80%
    .zh = 预测值（80%）

fires =
    .en = fires
    .zh = 触发条件

share-of-kv-cache =
    .en = share of the KV cache
    .zh = KV 缓存占用

fires-at =
    .en = { $above ->
        [yes] above
       *[no] below
    } { $level }
    .zh = { $above ->
        [yes] 高于
       *[no] 低于
    } { $level }

alert-at =
    .en = alert { $above ->
        [yes] above
       *[no] below
    } { $level }
    .zh = { $above ->
        [yes] 高于
       *[no] 低于
    }此触发 { $level }

# number: the intervals of all answers
over-prediction =
    .en = relative to the prediction: dot predicted, bar 80% interval, red where the alert fires
    .zh = 与预测值之比：点为预测值，条为 80% 区间，线外触发

not-yet =
    .en = nothing in { $version }; { $use } in later releases
    .zh = { $version } 中没有；之后的版本用 { $use }

printed-twice =
    .en = { $above ->
        [yes] >
       *[no] <
    } { $first } (warning), { $second } (critical)
    .zh = { $above ->
        [yes] >
       *[no] <
    } { $first }（警告）、{ $second }（严重）

nothing =
    .en = nothing
    .zh = 无需设置

instead =
    .en = instead
    .zh = 替代

without-counterpart =
    .en = Without a counterpart: { $names }.
    .zh = 没有对应参数的：{ $names }。

had-up-to =
    .en = Existed up to { $until }. { $note }
    .zh = { $until } 之后删除。{ $note }

alert-on =
    .en = alert on
    .zh = 告警对象

printed =
    .en = printed
    .zh = 文中阈值

# number: the intervals of all answers
predicted-of-document =
    .en = predicted, 80%
    .zh = 预测（80%）

remark =
    .en = remark
    .zh = 说明

if-all-is-as-predicted =
    .en = if all is as predicted
    .zh = 运行符合预测时是否触发（假设指标存在）

perhaps-inside-interval =
    .en = perhaps: inside the interval
    .zh = 未必：落在区间内

always =
    .en = always
    .zh = 总是触发

silent =
    .en = silent
    .zh = 不触发

run =
    .en = run
    .zh = 测试

exercises =
    .en = tests
    .zh = 检验什么

# number: the intervals of all answers
ttft =
    .en = TTFT, 80%
    .zh = TTFT（80%）

# number: the intervals of all answers
tpot =
    .en = TPOT, 80%
    .zh = TPOT（80%）

server =
    .en = server
    .zh = 服务状态

alerts-that-fired =
    .en = alerts that fired
    .zh = 触发的告警

as-expected =
    .en = as expected
    .zh = 符合预期

half-of-planned-requests =
    .en = half of the planned requests
    .zh = 并发为方案的一半

four-times-planned-requests-full =
    .en = four times the planned requests: a full queue (for which this directory has no alert)
    .zh = 并发为方案的四倍，队列积压（这套文件没有队列告警）

stopped =
    .en = stopped
    .zh = 已停止

step-alone =
    .en = steps of a single request
    .zh = 单个请求的各步

half-of-concurrency =
    .en = half of the concurrency
    .zh = 一半并发

concurrency-and-lengths-as-planned =
    .en = concurrency and lengths as planned
    .zh = 按方案的并发与长度

independent-arrivals =
    .en = independent arrivals
    .zh = 独立到达

half-of-either-length =
    .en = input and output half as long
    .zh = 长度各减半

lengths-that-vary =
    .en = lengths that vary
    .zh = 长度不一

prompts-that-begin-alike =
    .en = prompts that begin alike
    .zh = prompt 有公共前缀
