### ``sweep``: any number of deployments, reduced to a front or the best, or written as Parquet.

help-scenario =
    .en = identifier or path of a scenario
    .zh = 场景的标识或路径

# number: an example
help-axis =
    .en = what varies: a path that --set takes, or an input symbol; values with commas, ranges as 1..64, 1..4096:x2, 0..1:+0.1, 1..9:/5; device+cluster.node=A+B,C+D move together
    .zh = 变化的量：--set 所用的路径或输入符号；取值以逗号分隔，范围写作 1..64、1..4096:x2、0..1:+0.1、1..9:/5；device+cluster.node=A+B,C+D 同步变化

help-set =
    .en = override that holds throughout
    .zh = 全程有效的取值覆盖

help-min =
    .en = a quantity to have small; of several the front is kept
    .zh = 求小的量；给出几个时保留前沿

help-max =
    .en = a quantity to have large
    .zh = 求大的量

help-best =
    .en = keep the best by one objective instead of a front
    .zh = 按单一目标保留最优的若干个，而非前沿

help-all =
    .en = keep every deployment that fits
    .zh = 保留装得下的全部部署

help-quantity =
    .en = a quantity that is told besides
    .zh = 另外列出的量

help-out =
    .en = keep finished chunks as Parquet parts there, and go on from those that it has
    .zh = 把完成的块以 Parquet 存入该目录，并从已有的接着算

help-chunk =
    .en = deployments that are computed at once (default { $count })
    .zh = 一次计算的部署数（缺省 { $count }）

help-workers =
    .en = processes on this machine (default: its cores)
    .zh = 本机进程数（缺省为核数）

help-scheduler =
    .en = compute on the workers of a Dask scheduler
    .zh = 在 Dask 调度器的工作节点上计算

all-needs-files =
    .en = --all keeps every deployment in files, expected -o FOLDER beside it.
    .zh = --all 把全部部署存入文件，还应给出 -o FOLDER。

# number: the least
workers =
    .en = --workers { $count }: expected 1 or more.
    .zh = --workers { $count }：至少应为 1。

interrupted =
    .en = interrupted: { $kept ->
        [yes] finished parts are kept, the same command goes on from there
       *[no] nothing was kept, -o FOLDER keeps what is finished
    }.
    .zh = 已中断：{ $kept ->
        [yes] 完成的部分已保留，同一命令可接着算
       *[no] 未保留任何结果，-o FOLDER 可保留已完成的
    }。

expected-values =
    .en = --axis { $text }: expected PATH=VALUES.
    .zh = --axis { $text }：应为 PATH=VALUES。

opposite =
    .en = --min { $name }: --max asks for the opposite.
    .zh = --min { $name }：与 --max 相反。

chunks =
    .en = chunks
    .zh = 块

counted =
    .en = { $count } deployments, { $fit } can be laid out and fit.
    .zh = { $count } 个部署，{ $fit } 个可行且装得下。

left-out =
    .en = { " " } left out { $count }: { $reason } (first: { $settings })
    .zh = { " " } 排除 { $count } 个：{ $reason }（首个：{ $settings }）

# only in .en: $plain
reason =
    .en = { $plain }
    .zh = { $reason ->
        [large] 显存装不下
        [many] concurrency 超过请求总数
        [long] context_tokens 小于 input_tokens 与 output_tokens 之和
        [beyond] 超过模型的位置数
        [endless] 没有有限的结果
       *[other] { $plain }
    }

parts =
    .en = { $count } parts of sweep { $key } in { $folder }
    .zh = 扫描 { $key } 的 { $count } 个部分在 { $folder }

wanted =
    .en = { $name } ({ $large ->
        [yes] large
       *[no] small
    })
    .zh = { $name }（{ $large ->
        [yes] 求大
       *[no] 求小
    }）

best =
    .en = the best { $count } by { $wanted }
    .zh = 最优的 { $count } 个，按 { $wanted }

front =
    .en = the front: { $count } that no other beats in { $wanted }
    .zh = 前沿：{ $count } 个，在 { $wanted } 上不被其他部署支配

more =
    .en = { $count } more: --json tells all of them.
    .zh = 另有 { $count } 个：--json 列出全部。

# only in .en: $name
# only in .zh: $label
quantity =
    .en = { $name }
    .zh = { $each ->
        [yes] 每卡
       *[no] { "" }
    }{ $label }
