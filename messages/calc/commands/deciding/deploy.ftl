### ``deploy``: the files that start and watch a deployment, in a directory of their own.

help-output =
    .en = directory to write: new, empty, or ours and unchanged
    .zh = 写入的目录：新建的、空的，或由本命令写出且未改动的

help-engine =
    .en = vllm, vllm-ascend or sglang with its release, in place of the scenario's
    .zh = vllm、vllm-ascend 或 sglang 及其版本，代替场景所写

help-hosts =
    .en = names of the nodes, those that prefill first; made up without
    .zh = 各节点的主机名，做预填充的在前；不给则自拟

help-flag =
    .en = a further argument of the engine, e.g. --flag=--trust-remote-code
    .zh = 引擎的其他参数，例如 --flag=--trust-remote-code

help-env =
    .en = a further environment variable of the engine
    .zh = 引擎的其他环境变量

named-twice =
    .en = --engine and --set engine name it twice, expected one of them.
    .zh = --engine 与 --set engine 重复指定，应只留一个。

on-the-limits =
    .en = { " " }   { $count } alerts, { $promised } on the limits of the service, the others on the prediction
    .zh = { " " }   { $count } 条告警，其中 { $promised } 条针对服务承诺的上限，其余针对预测

on-the-prediction =
    .en = { " " }   { $count } alerts, all on the prediction: no limits are stated (--set limits.ttft.p90=TIME)
    .zh = { " " }   { $count } 条告警，全部针对预测：未给出承诺的上限（--set limits.ttft.p90=TIME）

# only in .en: $sentence
# only in .zh: $quantity
# only in .zh: $limit
# only in .zh: $value
not-kept =
    .en = { " " }   not kept by the prediction: { $sentence }
    .zh = { " " }   按预测达不到：承诺{ $quantity }不超过 { $limit }，预测{ $at ->
        [mean] 均值
       *[other] { " " }{ $at }（仿真）
    }为 { $value }

longest =
    .en = { " " }   requests of at most { $tokens } tokens{ $refused ->
        [yes] ; { $share } of them are longer and refused
       *[no] { "" }
    }
    .zh = { " " }   请求最长 { $tokens } token{ $refused ->
        [yes] ；超长而被拒的占 { $share }
       *[no] { "" }
    }

files =
    .en = { $directory }: { $count } files for { $nodes } { $one ->
        [yes] node
       *[no] nodes
    }, { $release }.
    .zh = { $directory }：{ $count } 个文件，{ $nodes } 个节点，{ $release }。

pool =
    .en = { $name }: { $quantities }.
    .zh = { $name ->
        [serve] 服务
        [prefill] 预填充
        [decode] 解码
       *[other] { $name }
    }：{ $quantities }。

# number: the intervals of all answers
with-interval =
    .en = { $value } (80%: { $reach })
    .zh = { $value }（80% 区间 { $reach }）

set-model =
    .en = Set MODEL in { $file }, then run nodes/*.sh on their nodes.
    .zh = 在 { $file } 中设置 MODEL，然后在各节点上运行 nodes/*.sh。

to-measure =
    .en = To measure: { $bench }; then python -m calc calibrate { $results }
    .zh = 实测：先运行 { $bench }，再运行 python -m calc calibrate { $results }
