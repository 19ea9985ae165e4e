### What commands share: exit codes, tables for people, plain data for programs, stored entries.

deployed =
    .en = { $cards } × { $device }, { $model } in { $precision }, { $layout }.
    .zh = { $cards } × { $device }，{ $model }，{ $precision }，{ $layout }。

# only in .en: $plain
input =
    .en = { $plain }
    .zh = { $name ->
        [gemm_efficiency] 稠密矩阵乘效率
        [sliced_gemm_efficiency] 切片矩阵乘效率
        [grouped_gemm_efficiency] 分组矩阵乘效率
        [matmul_latency] 每次矩阵乘与行数无关的时间
        [depth_latency] 每个求和输入的时间
        [activation_traffic] 量化矩阵乘每个输入元素搬运的字节
        [matrix_peak] 矩阵单元峰值
        [link_bandwidth] 链路带宽
        [own_error] 公式自身的误差
       *[other] { $plain }
    }{ $of ->
        [none] { "" }
       *[other] （{ $of }）
    }

in-unit =
    .en = { $number } { $unit ->
        [days] days
        [h] h
       *[min] min
    }
    .zh = { $number } { $unit ->
        [days] 天
        [h] 小时
       *[min] 分钟
    }
