### One deployment as one HTML page.

memory =
    .zh = 显存占用最大的卡的显存

step =
    .zh = 一个{ $phase ->
        [prefill] 预填充
       *[decode] 解码
    }步，全部请求同时到达

load =
    .zh = 延迟与吞吐随负载的变化

limits =
    .zh = 瓶颈

start =
    .zh = 如何启动

trust =
    .zh = 可信程度

inputs =
    .zh = 输入与来源

formulas =
    .zh = 公式与本部署的数值

seen =
    .zh = 各值下方为八成区间。{ $load ->
        [burst] 负载：全部请求同时到达。
        [steady] 负载：稳态。
       *[none] {""}
    }

way =
    .zh = 怎样才能运行

requests =
    .zh = 请求

of =
    .zh = ，可用

row =
    .zh = 本部署的实测

prompt =
    .zh = 输入

output =
    .zh = 输出

nearest =
    .zh = 最接近的实测系统

total =
    .zh = 合计

curve =
    .zh = 线与色带：不同在途请求数下的取值与八成区间。圆点：本部署（公式不适用时为模拟值）。虚线：最多可同时容纳的请求数。

deploy =
    .zh = 以下为各池第一个服务进程的命令。全部文件（含路由、监控与压测）由此命令写出：

all-inputs =
    .zh = 全部输入

no-measurement =
    .zh = 没有同类系统的实测。

made =
    .zh = 生成工具：will-it-fit

memory-part =
    .zh = { $name ->
        [weights_per_device] 权重
        [mtp_weights] 投机层
        [absorbed_copies_per_device] 上投影副本
        [kv_per_device] KV 缓存
        [activations_per_device] 激活
        [exchange_buffers] all-to-all 缓冲区
        [graph_memory] 捕获的图
       *[rest] 运行时、程序库与填充
    }

step-part =
    .zh = { $name ->
        [routed_expert] 专家
        [offload] 专家卸载
        [attention] 注意力投影、稠密 MLP
        [core] 注意力核心
        [dequantisation] 反量化
        [router] 路由器、输出头、归一化
        [all_reduce] 通信
        [boundary] 算子间隔、主机、步间空隙
        [draft] 投机解码
        [stall] 他人预填充造成的停顿
       *[overlap] 被重叠掩盖或省去
    }

pool =
    .zh = { $name ->
        [prefill] 预填充池
       *[decode] 解码池
    }

limit =
    .zh = { $phase ->
        [prefill] 预填充
       *[decode] 解码
    }受限于{ $name ->
        [memory_bandwidth] 显存带宽
        [l2_bandwidth] L2 带宽（反量化）
        [compute] 算力
        [communication] 通信
        [host] 主机
        [fixed_costs] 固定开销（算子间隔与步间空隙）
       *[memory_capacity] 显存容量
    }。

in-flight =
    .zh = 在途请求数
