### Words that several modules and pages say.

# number: the cards of the systems that are compared
two-cards-and-host =
    .en = 2 cards and host
    .zh = 两卡加主机

# number: the cards of the systems that are compared
eight-cards-spelled =
    .en = 8 cards
    .zh = 八卡

# number: the intervals of all answers
interval =
    .en = 80% interval
    .zh = 80% 区间

activations =
    .en = activations
    .zh = 激活

arithmetic =
    .en = arithmetic
    .zh = 算力

attention =
    .en = attention
    .zh = 注意力

attention-core =
    .en = attention core
    .zh = 注意力核心

attention-projections =
    .en = attention projections
    .zh = 注意力投影

attention-projections-dense-mlp =
    .en = attention projections, dense MLP
    .zh = 注意力投影、稠密 MLP

bound-by =
    .en = bound by
    .zh = 受限于

bytes-moved-by-quantising-element =
    .en = bytes moved by quantising an element of a matmul's rows
    .zh = 量化矩阵乘每个输入元素搬运的字节

captured-graphs =
    .en = captured graphs
    .zh = 捕获的图

card =
    .en = card
    .zh = 卡

cards =
    .en = cards
    .zh = 卡

number-of-cards =
    .en = cards
    .zh = 卡数

change =
    .en = change
    .zh = 改动

claim =
    .en = claim
    .zh = 编号

number-of-claims =
    .en = claims
    .zh = 论断数

communication =
    .en = communication
    .zh = 通信

cost =
    .en = cost
    .zh = 成本

decode =
    .en = decode
    .zh = 解码

dense-mlp =
    .en = dense MLP
    .zh = 稠密 MLP

deployment =
    .en = deployment
    .zh = 部署

dequantisation =
    .en = dequantisation
    .zh = 反量化

dispatch =
    .en = dispatch
    .zh = 分发

documented =
    .en = documented
    .zh = 文档

engine =
    .en = engine
    .zh = 引擎

estimate =
    .en = estimate
    .zh = 估计

every-row =
    .en = Every row
    .zh = 逐行

formula =
    .en = formula
    .zh = 公式

full-mesh =
    .en = full mesh
    .zh = 全互联

input =
    .en = input
    .zh = 输入

l2-bandwidth =
    .en = L2 bandwidth
    .zh = L2 带宽

latency =
    .en = latency
    .zh = 延迟

end-to-end-latency =
    .en = latency
    .zh = 端到端延迟

layout =
    .en = layout
    .zh = 切分

letter =
    .en = letter
    .zh = 符号

measured =
    .en = measured
    .zh = 实测

median-error =
    .en = median error
    .zh = 误差中位数

memory-bandwidth =
    .en = memory bandwidth
    .zh = 显存带宽

memory-capacity =
    .en = memory capacity
    .zh = 显存容量

memory-to-spare =
    .en = memory to spare
    .zh = 显存余量

metric =
    .en = metric
    .zh = 指标

model =
    .en = model
    .zh = 模型

name =
    .en = name
    .zh = 名称

no-plain =
    .en = no
    .zh = 否

none =
    .en = none
    .zh = 无

normal =
    .en = normal
    .zh = 普通模式

operator =
    .en = operator
    .zh = 算子

output-head =
    .en = output head
    .zh = 输出头

output-throughput =
    .en = output throughput
    .zh = 输出吞吐

phase =
    .en = phase
    .zh = 阶段

plan =
    .en = plan
    .zh = 方案

precision =
    .en = precision
    .zh = 精度

predicted =
    .en = predicted
    .zh = 预测

# number: the intervals of all answers
predicted-interval =
    .en = predicted (80%)
    .zh = 预测（80% 区间）

prefill =
    .en = prefill
    .zh = 预填充

printed =
    .en = printed
    .zh = 文档数值

problems =
    .en = problems
    .zh = 题数

published-weights =
    .en = published weights
    .zh = 官方权重

quantity =
    .en = quantity
    .zh = 量

number-of-requests =
    .en = requests
    .zh = 请求数

requests-at-once =
    .en = requests at once
    .zh = 并发请求数

requests-that-fit =
    .en = requests that fit
    .zh = 可容纳请求数

right =
    .en = right
    .zh = 正确

right-value =
    .en = correct value
    .zh = 正确值

routed-experts =
    .en = routed experts
    .zh = 路由专家

router =
    .en = router
    .zh = 路由器

router-output-head-norms-gates =
    .en = router, output head, norms, gates
    .zh = 路由器、输出头、归一化、门控

row =
    .en = row
    .zh = 行

rows =
    .en = rows
    .zh = 行数

runtime-reserve =
    .en = runtime reserve
    .zh = 运行时预留

section =
    .en = section
    .zh = 章节

number-of-servers =
    .en = servers
    .zh = 服务器数

setting =
    .en = setting
    .zh = 设置

shared-expert =
    .en = shared expert
    .zh = 共享专家

shared-experts =
    .en = shared experts
    .zh = 共享专家

source =
    .en = source
    .zh = 来源

stored-as =
    .en = stored as
    .zh = 存储精度

summary =
    .en = summary
    .zh = 执行摘要

switch =
    .en = switch
    .zh = 交换芯片

other-rows =
    .en = The other rows
    .zh = 其余各行

throughput =
    .en = throughput
    .zh = 吞吐

time =
    .en = time
    .zh = 时间

time-of-matmul-whatever-its =
    .en = time of a matmul whatever its rows
    .zh = 每次矩阵乘与行数无关的时间

time-per-output-token =
    .en = time per output token
    .zh = 每输出 token 时间

time-per-output-token-ms =
    .en = time per output token (ms)
    .zh = 每输出 token 时间（ms）

time-to-first-token =
    .en = time to first token
    .zh = 首 token 延迟

token-s-per-card =
    .en = token/s per card
    .zh = 每卡 token/s

value =
    .en = value
    .zh = 取值

value-range =
    .en = value (range)
    .zh = 取值（范围）

verdict =
    .en = verdict
    .zh = 结论

verdict-headroom =
    .en = verdict, headroom
    .zh = 结论与余量

weights =
    .en = weights
    .zh = 权重

what-was-measured-is-of =
    .en = What was measured is of another card or other settings.
    .zh = 已有的实测用的是另一种卡或其他设置。

wrong =
    .en = wrong
    .zh = 错误

yes-plain =
    .en = yes
    .zh = 是

cards-2 =
    .en = { $cards } cards
    .zh = { $cards } 卡

kind =
    .en = kind
    .zh = 性质

# English has the word that stands in the data.
kind-of-statement =
    .en = { $kind }
    .zh = { $kind ->
        [vendor] 厂商
        [measured] 实测
        [derived] 推导
        [documented] 文档
       *[assumed] 假设
    }

part =
    .en = part
    .zh = 部分

that-it-was-measured =
    .en = , measured
    .zh = （实测）

from-low-to-high =
    .en = { $low } to { $high }
    .zh = { $low } 至 { $high }

output =
    .en = output
    .zh = 输出
