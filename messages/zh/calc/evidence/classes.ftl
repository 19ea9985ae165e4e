### Classes of deployments that share the formulas' own error, and what a deployment gets of it.

kind =
    { $name ->
        [servers] 服务器
        [sparse] 稀疏注意力服务器
        [widened] 边还原权重边相乘、算子没有数据表的服务器
        [hosts] 专家在主机侧
       *[all] 全部系统
    }
load =
    { $name ->
        [concurrent] 固定并发
        [alone] 单独一个阶段
        [queued] 一次性发出
       *[varying] 一次性发出，长短不一
    }
mechanisms-of = '{ $device }' 没有给出 mechanisms，效率与开销取自 '{ $borrowed }'（可在设备文件中写 mechanisms: 名称）
none-measured = { $vendor } 的卡没有{ $kind }的实测，区间取自其他厂商，并按厂商间的差异加宽
law-rejected =
    { $reason ->
        [neighbour] { $engine } 下 { $operator }（{ $dtype }）的定律不予采用：一个 token 时耗时为 { $against } 的 { $factor } 倍
       *[step] { $engine } 下 { $operator }（{ $dtype }）的定律不予采用：耗时为实测一步所余时间的 { $factor } 倍（{ $against }）
    }{ $known ->
        [yes] ，固定时间改用 { $instead } 的值
       *[no] ，固定时间改用该卡的通用值
    }
runs = { $systems } 个系统 { $rows } 组中 { $inside } 组
measured =
    { $name ->
        [tpot] TPOT
        [ttft] TTFT
       *[output_throughput] 吞吐
    }
runs-of = { $quantities } { $counts }
of-class = { $counts }（{ $kind }）
# number: the intervals of all answers
inside = 实测落在 80% 区间内：{ $runs }。
outside = 超出实测范围：{ $axes }。
axis =
    { $name ->
        [requests] 每卡请求数
        [tensor] TP
        [pipeline] PP
        [expert] EP
        [drafts] 投机 token
        [precision] 格式
        [device] 卡
       *[pools] 池
    }
