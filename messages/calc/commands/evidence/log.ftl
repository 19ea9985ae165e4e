help-file =
    .en = start-up log of vLLM, SGLang or vLLM Ascend
    .zh = vLLM、SGLang 或 vLLM Ascend 的启动日志

help-scenario =
    .en = the deployment that printed it (default: the one that the log names)
    .zh = 打印该日志的部署（默认取日志中所写的部署）

help-set =
    .en = a setting of the deployment, such as device=nvidia-h200-sxm
    .zh = 部署的设置，如 device=nvidia-h200-sxm

help-write =
    .en = store the log as a measurement in this file
    .zh = 把日志存为测量值，写入该文件

not-said =
    .en = { $path } does not say { $lacking ->
        [model] which model it is
        [device] on which cards it ran
        [precision] in which precision the weights are
       *[other] in which servers the cards stand
        }, expected --set { $lacking }=NAME or --scenario SCENARIO.
    .zh = { $path } 未写明{ $lacking ->
        [model] 模型
        [device] 卡型
        [precision] 权重精度
       *[other] 服务器
        }，应以 --set { $lacking }=NAME 或 --scenario SCENARIO 给出。

not-written =
    .en = { $path } cannot be written ({ $why }).
    .zh = { $path } 无法写入（{ $why }）。

read =
    .en = { $engine }, { $model } in { $precision } on { $devices } × { $device }{ $refused ->
        [no-room] : the engine refused to start, nothing is left for a cache.
        [longest-request] : the engine refused to start, a request of the longest length needs more cache than there is.
        [allocation] : the engine ran out of device memory.
       *[no] .
        }
    .zh = { $engine }，{ $devices } × { $device } 上的 { $model }（{ $precision }）{ $refused ->
        [no-room] ：引擎拒绝启动，没有留给缓存的显存。
        [longest-request] ：引擎拒绝启动，单个最长请求所需的缓存超过可用缓存。
        [allocation] ：引擎显存不足（OOM）。
       *[no] 。
        }

release-not-said =
    .en = The log does not say which release: the latest is assumed, --set engine={ $engine }@RELEASE states it.
    .zh = 日志未写明版本：按最新版本计算，可用 --set engine={ $engine }@RELEASE 指定。

printed =
    .en = printed
    .zh = 打印值

ours =
    .en = predicted
    .zh = 预测值

ratio =
    .en = predicted / printed
    .zh = 预测 / 打印

within =
    .en = Every printed value lies in its interval.
    .zh = 所有打印值都在区间之内。

off =
    .en = The term that is off: { $term }, predicted { $by } too { $more ->
        [yes] much
       *[no] little
        }.
    .zh = 有偏差的一项：{ $term }，预测{ $more ->
        [yes] 偏多
       *[no] 偏少
        } { $by }。
