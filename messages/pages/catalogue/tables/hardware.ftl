### How the catalogue's hardware is shown: labels in both languages, disagreements, rooflines.

card-memory =
    .en = memory
    .zh = 显存容量

kept-by-own-system =
    .en = kept by the card's own system
    .zh = 系统自留显存

share-of-bandwidth-reached =
    .en = share of bandwidth reached
    .zh = 带宽利用率

runtime-communication-graphs =
    .en = runtime, communication, graphs
    .zh = 运行时、通信与图捕获占用

matrix-peak =
    .en = matrix peak
    .zh = 矩阵峰值

sparse-peak =
    .en = sparse peak
    .zh = 稀疏峰值

vector-peak =
    .en = vector peak
    .zh = 向量峰值

headline-peak =
    .en = headline peak
    .zh = 宣传峰值

to-host-one-direction =
    .en = to the host, one direction
    .zh = 到主机，单方向

l2-cache =
    .en = L2 cache
    .zh = L2 缓存

dies =
    .en = dies
    .zh = die 数

clock =
    .en = clock
    .zh = 主频

power =
    .en = power
    .zh = 功耗

price =
    .en = price
    .zh = 价格

per-device-one-direction =
    .en = per device, one direction
    .zh = 单卡单方向带宽

per-pair-one-direction =
    .en = per pair, one direction
    .zh = 单对卡单方向带宽

links-per-device =
    .en = links per device
    .zh = 每卡链路数

added-to-expert-exchange =
    .en = added to an all-to-all of experts
    .zh = 专家 all-to-all 另加延迟

devices =
    .en = devices
    .zh = 设备数

servers-in-fabric =
    .en = servers in the fabric
    .zh = 超节点内服务器数

switch-planes =
    .en = switch planes
    .zh = 交换平面数

network-ports =
    .en = network ports
    .zh = 网络端口数

host-processors =
    .en = host processors
    .zh = 主机处理器数

memory-of-a-host =
    .en = memory
    .zh = 内存容量

memory-bandwidth-of-a-host =
    .en = memory bandwidth
    .zh = 内存带宽

idle =
    .en = idle
    .zh = 空载

full-load =
    .en = full load
    .zh = 满载

cny =
    .en = CNY
    .zh = 人民币

rent-usd =
    .en = rent, USD
    .zh = 租金，美元

matmul =
    .en = matmul
    .zh = 矩阵乘

grouped-matmul-experts =
    .en = grouped matmul (experts)
    .zh = 分组矩阵乘（专家）

streaming-of-weights =
    .en = streaming of weights
    .zh = 权重流读取

copy-read-write =
    .en = copy, read + write
    .zh = 拷贝（读写合计）

host-to-device =
    .en = host to device
    .zh = 主机到卡

device-to-host =
    .en = device to host
    .zh = 卡到主机

mla-decode =
    .en = MLA, decode
    .zh = MLA 解码

mla-prefill =
    .en = MLA, prefill
    .zh = MLA 预填充

whole-moe-block =
    .en = whole MoE block
    .zh = 整个 MoE 块

# number: the slices of what was measured
moe-block-sliced =
    .en = MoE block, experts sharded by TP8
    .zh = MoE 块，专家切 8 份

between-two-kernels =
    .en = between two kernels
    .zh = 算子间隔

between-two-kernels-of-graph =
    .en = between two kernels of a graph
    .zh = 图内算子间隔

host-per-operator =
    .en = host, per operator
    .zh = 主机侧每算子

host-between-two-steps =
    .en = host, between two steps
    .zh = 主机侧步间空隙

huawei =
    .en = Huawei
    .zh = 华为

intel =
    .en = Intel
    .zh = 英特尔

used-here =
    .en = used here
    .zh = 本书采用

also-printed =
    .en = also printed
    .zh = 另有数值

by-whom-and-what-it-is =
    .en = by whom, and what it is
    .zh = 出处与说明

nominal-bandwidth =
    .en = nominal bandwidth
    .zh = 标称带宽

bandwidth-reached =
    .en = bandwidth reached
    .zh = 实际可达带宽

matmuls-median-and-range =
    .en = matmuls: median and range
    .zh = 矩阵乘：中位数与范围

arithmetic-intensity-flop-b =
    .en = arithmetic intensity (FLOP/B)
    .zh = 计算强度（FLOP/B）

tflops-int8-tops =
    .en = TFLOPS (INT8: TOPS)
    .zh = 算力（TFLOPS，INT8 为 TOPS）
