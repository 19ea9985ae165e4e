### Classes of deployments that share the formulas' own error, and what a deployment gets of it.

kind =
    .en = { $name ->
        [servers] servers
        [sparse] servers with sparse attention
        [widened] servers whose kernels widen weights as they multiply and are in no table
        [hosts] experts on the host
       *[all] all systems
    }
    .zh = { $name ->
        [servers] 服务器
        [sparse] 稀疏注意力服务器
        [widened] 边还原权重边相乘、算子没有数据表的服务器
        [hosts] 专家在主机侧
       *[all] 全部系统
    }

load =
    .en = { $name ->
        [concurrent] fixed concurrency
        [alone] one phase alone
        [queued] sent all at once
       *[varying] sent all at once, many lengths
    }
    .zh = { $name ->
        [concurrent] 固定并发
        [alone] 单独一个阶段
        [queued] 一次性发出
       *[varying] 一次性发出，长短不一
    }

mechanisms-of =
    .en = '{ $device }' names no mechanisms, so efficiencies and overheads are those of '{ $borrowed }' (mechanisms: NAME in its file says which)
    .zh = '{ $device }' 没有给出 mechanisms，效率与开销取自 '{ $borrowed }'（可在设备文件中写 mechanisms: 名称）

none-measured =
    .en = no { $kind } on cards of { $vendor } were measured, so the interval is that of other makers, wider by as much as makers differ
    .zh = { $vendor } 的卡没有{ $kind }的实测，区间取自其他厂商，并按厂商间的差异加宽

law-rejected =
    .en = { $reason ->
        [neighbour] the law of { $operator } ({ $dtype }) measured under { $engine } is rejected: with one token it takes { $factor } times that of { $against }
       *[step] the law of { $operator } ({ $dtype }) measured under { $engine } is rejected: it takes { $factor } times what a measured step leaves ({ $against })
    }{ $known ->
        [yes] , and its fixed time is that of { $instead }
       *[no] , and its fixed time is that of the card
    }
    .zh = { $reason ->
        [neighbour] { $engine } 下 { $operator }（{ $dtype }）的定律不予采用：一个 token 时耗时为 { $against } 的 { $factor } 倍
       *[step] { $engine } 下 { $operator }（{ $dtype }）的定律不予采用：耗时为实测一步所余时间的 { $factor } 倍（{ $against }）
    }{ $known ->
        [yes] ，固定时间改用 { $instead } 的值
       *[no] ，固定时间改用该卡的通用值
    }

runs =
    .en = { $inside } of { $rows } { $rows ->
        [one] run
       *[other] runs
    } of { $systems } { $systems ->
        [one] system
       *[other] systems
    }
    .zh = { $systems } 个系统 { $rows } 组中 { $inside } 组

measured =
    .en = { $name ->
        [tpot] TPOT
        [ttft] TTFT
       *[output_throughput] throughput
    }
    .zh = { $name ->
        [tpot] TPOT
        [ttft] TTFT
       *[output_throughput] 吞吐
    }

runs-of =
    .en = { $quantities } { $counts }
    .zh = { $quantities } { $counts }

of-class =
    .en = { $counts } ({ $kind })
    .zh = { $counts }（{ $kind }）

# number: the intervals of all answers
inside =
    .en = Measured inside 80% intervals: { $runs }.
    .zh = 实测落在 80% 区间内：{ $runs }。

outside =
    .en = Outside the measured range: { $axes }.
    .zh = 超出实测范围：{ $axes }。

axis =
    .en = { $name ->
        [requests] requests per card
        [tensor] TP
        [pipeline] PP
        [expert] EP
        [drafts] drafts
        [precision] format
        [device] card
       *[pools] pools
    }
    .zh = { $name ->
        [requests] 每卡请求数
        [tensor] TP
        [pipeline] PP
        [expert] EP
        [drafts] 投机 token
        [precision] 格式
        [device] 卡
       *[pools] 池
    }
