### Mechanisms as rows of tables: the priors of a class of devices, and those of a deployment.

peak-share-of-matmuls = 行数足够多时矩阵乘的峰值利用率
peak-share-of-grouped-matmuls = 每专家行数足够多时分组矩阵乘的峰值利用率
peak-share-of-sliced-matmuls = TP 切分的专家的分组矩阵乘的峰值利用率
matmul-time-per-inner-element = 矩阵乘的附加固定时间，按求和维每个元素计
streaming-of-narrow-experts = 边读边还原时读取整个专家权重的带宽利用率
streaming-of-narrow-slices = 边读边还原时读取 TP 切分的专家权重的带宽利用率
memory-of-host-system = 操作系统及其服务占用的主机内存，每台服务器
memory-of-host-processes = 引擎进程占用的主机内存，每卡
time-of-narrow-experts = 边读边还原的专家每层的固定时间
peak-share-of-host-vectors = 主机用向量寄存器还原低位宽块的专家算子的向量峰值利用率
counted-operators = 算子计数
all-to-all-of-experts = 专家 all-to-all
low-latency = 低延迟模式
inside-node = 节点内
between-nodes = 节点间
indexer = 索引器
share-of-link = 链路利用率
time-per-expert = 每个专家的时间
time-per-token = 每个 token 的时间
tokens-of-buffers = 缓冲的 token 数
cache-of-16-bits = 16 比特缓存
cache-of-fewer-bits = 低于 16 比特的缓存
operators-per-layer = 每层算子数，全部层平均
