### ``models``, ``devices``, ``links``, ``nodes``, ``scenarios``: list the entries, or show one.

help-name =
    .en = identifier or path of a YAML file
    .zh = YAML 文件的标识或路径

kind =
    .en = { $name }
    .zh = { $name ->
        [models] 模型
        [devices] 设备
        [links] 链路
        [nodes] 服务器
       *[scenarios] 场景
    }

identifier =
    .en = identifier
    .zh = 标识

# only in .en: $plain
column =
    .en = { $plain }
    .zh = { $name ->
        [name] 名称
        [title] 标题
        [attention] 注意力
        [parameters] 参数量
        [type] 类型
        [memory_capacity] 显存容量
        [memory_bandwidth] 显存带宽
        [topology] 拓扑
        [device_bandwidth] 单卡带宽
        [pair_bandwidth] 两卡间带宽
        [devices_per_node] 每台卡数
        [device_link] 卡间链路
        [fabric_link] 超节点网络
        [network_link] 节点间网络
        [model] 模型
        [device] 设备
        [precision] 精度
       *[other] { $plain }
    }

word =
    .en = { $name }
    .zh = { $name ->
        [switch] 交换
        [full-mesh] 全互联
        [point-to-point] 点对点
        [host] 主机
        [gpu] GPU
        [npu] NPU
        [tpu] TPU
        [mla] MLA
        [gqa] GQA
        [csa] CSA
       *[other] { $name }
    }

count =
    .en = { $name } { $count }
    .zh = { $name ->
        [total] 总计
        [active] 激活
       *[routed] 路由专家
    } { $count }

key =
    .en = key
    .zh = 键

also-printed =
    .en = { " " } also printed
    .zh = { " " } 另有数值

# only in .en: $name
value-kind =
    .en = { $name }
    .zh = { $name ->
        [vendor] 厂商
        [measured] 实测
        [derived] 推导
        [documented] 文档
       *[assumed] 假定
    }

counted =
    .en = parameters, counted from the shapes
    .zh = 参数量，按张量形状计数

# only in .en: $plain
class =
    .en = { $plain }
    .zh = { $name ->
        [embedding] 嵌入
        [head] 输出头
        [attention_divided] 注意力（切分）
        [attention_kv] 注意力（KV）
        [attention_replicated] 注意力（复制）
        [compressor] 缓存压缩器
        [hyper] 超连接
        [norm] 归一化
        [dense_mlp] 稠密 MLP
        [router] 路由器
        [shared_expert] 共享专家
        [routed_expert] 路由专家
        [total] 总计
        [active] 激活
       *[routed] 路由专家合计
    }

in-section =
    .en = section { $section }
    .zh = 第 { $section } 节
