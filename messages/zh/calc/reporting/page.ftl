### One deployment as one HTML page.

memory = 显存占用最大的卡的显存
step =
    一个{ $phase ->
        [prefill] 预填充
       *[decode] 解码
    }步，全部请求同时到达
load = 延迟与吞吐随负载的变化
limits = 瓶颈
start = 如何启动
trust = 可信程度
inputs = 输入与来源
formulas = 公式与本部署的数值
seen =
    各值下方为八成区间。{ $load ->
        [burst] 负载：全部请求同时到达。
        [steady] 负载：稳态。
       *[none] { "" }
    }
way = 怎样才能运行
requests = 请求
of = ，可用
row = 本部署的实测
prompt = 输入
output = 输出
nearest = 最接近的实测系统
total = 合计
curve = 线与色带：不同在途请求数下的取值与八成区间。圆点：本部署（公式不适用时为模拟值）。虚线：最多可同时容纳的请求数。
deploy = 以下为各池第一个服务进程的命令。全部文件（含路由、监控与压测）由此命令写出：
all-inputs = 全部输入
no-measurement = 没有同类系统的实测。
made = 生成工具：will-it-fit
memory-part =
    { $name ->
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
    { $name ->
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
    { $name ->
        [prefill] 预填充池
       *[decode] 解码池
    }
limit =
    { $phase ->
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
in-flight = 在途请求数
