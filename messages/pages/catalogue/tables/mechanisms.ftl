### Mechanisms as rows of tables: the priors of a class of devices, and those of a deployment.

peak-share-of-matmuls =
    .en = share of the peak of matmuls with many rows
    .zh = 行数足够多时矩阵乘的峰值利用率

peak-share-of-grouped-matmuls =
    .en = share of the peak of grouped matmuls with many rows per expert
    .zh = 每专家行数足够多时分组矩阵乘的峰值利用率

peak-share-of-sliced-matmuls =
    .en = share of the peak of grouped matmuls of TP-sharded experts
    .zh = TP 切分的专家的分组矩阵乘的峰值利用率

matmul-time-per-inner-element =
    .en = additional fixed time of a matmul per element of its inner dimension
    .zh = 矩阵乘的附加固定时间，按求和维每个元素计

streaming-of-narrow-experts =
    .en = share of the bandwidth at which weights of whole experts dequantised while read stream
    .zh = 边读边还原时读取整个专家权重的带宽利用率

streaming-of-narrow-slices =
    .en = share of the bandwidth at which weights of TP-sharded experts dequantised while read stream
    .zh = 边读边还原时读取 TP 切分的专家权重的带宽利用率

memory-of-host-system =
    .en = host memory of the operating system and its services, per server
    .zh = 操作系统及其服务占用的主机内存，每台服务器

memory-of-host-processes =
    .en = host memory of the engine's processes, per card
    .zh = 引擎进程占用的主机内存，每卡

time-of-narrow-experts =
    .en = fixed time of a layer's experts dequantised while read
    .zh = 边读边还原的专家每层的固定时间

peak-share-of-host-vectors =
    .en = share of the vector peak of the host's expert kernels that widen blocks of few bits
    .zh = 主机用向量寄存器还原低位宽块的专家算子的向量峰值利用率

counted-operators =
    .en = counted operators
    .zh = 算子计数

all-to-all-of-experts =
    .en = all-to-all of experts
    .zh = 专家 all-to-all

low-latency =
    .en = low latency
    .zh = 低延迟模式

inside-node =
    .en = inside a node
    .zh = 节点内

between-nodes =
    .en = between nodes
    .zh = 节点间

indexer =
    .en = indexer
    .zh = 索引器

share-of-link =
    .en = share of the link
    .zh = 链路利用率

time-per-expert =
    .en = time per expert
    .zh = 每个专家的时间

time-per-token =
    .en = time per token
    .zh = 每个 token 的时间

tokens-of-buffers =
    .en = tokens of the buffers
    .zh = 缓冲的 token 数

cache-of-16-bits =
    .en = 16-bit cache
    .zh = 16 比特缓存

cache-of-fewer-bits =
    .en = cache of fewer bits
    .zh = 低于 16 比特的缓存

operators-per-layer =
    .en = operators per layer, mean of all layers
    .zh = 每层算子数，全部层平均
