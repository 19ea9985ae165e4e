### Words that several modules and pages say.

# number: the cards of the systems that are compared
two-cards-and-host = 两卡加主机
# number: the cards of the systems that are compared
eight-cards-spelled = 八卡
# number: the intervals of all answers
interval = 80% 区间
activations = 激活
arithmetic = 算力
attention = 注意力
attention-core = 注意力核心
attention-projections = 注意力投影
attention-projections-dense-mlp = 注意力投影、稠密 MLP
bound-by = 受限于
bytes-moved-by-quantising-element = 量化矩阵乘每个输入元素搬运的字节
captured-graphs = 捕获的图
card = 卡
cards = 卡
number-of-cards = 卡数
change = 改动
claim = 编号
number-of-claims = 论断数
communication = 通信
cost = 成本
decode = 解码
dense-mlp = 稠密 MLP
deployment = 部署
dequantisation = 反量化
dispatch = 分发
documented = 文档
engine = 引擎
estimate = 估计
every-row = 逐行
formula = 公式
full-mesh = 全互联
input = 输入
l2-bandwidth = L2 带宽
latency = 延迟
end-to-end-latency = 端到端延迟
layout = 切分
letter = 符号
measured = 实测
median-error = 误差中位数
memory-bandwidth = 显存带宽
memory-capacity = 显存容量
memory-to-spare = 显存余量
metric = 指标
model = 模型
name = 名称
no-plain = 否
none = 无
normal = 普通模式
operator = 算子
output-head = 输出头
output-throughput = 输出吞吐
phase = 阶段
plan = 方案
precision = 精度
predicted = 预测
# number: the intervals of all answers
predicted-interval = 预测（80% 区间）
prefill = 预填充
printed = 文档数值
problems = 题数
published-weights = 官方权重
quantity = 量
number-of-requests = 请求数
requests-at-once = 并发请求数
requests-that-fit = 可容纳请求数
right = 正确
right-value = 正确值
routed-experts = 路由专家
router = 路由器
router-output-head-norms-gates = 路由器、输出头、归一化、门控
row = 行
rows = 行数
runtime-reserve = 运行时预留
section = 章节
number-of-servers = 服务器数
setting = 设置
shared-expert = 共享专家
shared-experts = 共享专家
source = 来源
stored-as = 存储精度
summary = 执行摘要
switch = 交换芯片
other-rows = 其余各行
throughput = 吞吐
time = 时间
time-of-matmul-whatever-its = 每次矩阵乘与行数无关的时间
time-per-output-token = 每输出 token 时间
time-per-output-token-ms = 每输出 token 时间（ms）
time-to-first-token = 首 token 延迟
token-s-per-card = 每卡 token/s
value = 取值
value-range = 取值（范围）
verdict = 结论
verdict-headroom = 结论与余量
weights = 权重
what-was-measured-is-of = 已有的实测用的是另一种卡或其他设置。
wrong = 错误
yes-plain = 是
cards-2 = { $cards } 卡
kind = 性质
# English has the word that stands in the data.
kind-of-statement =
    { $kind ->
        [vendor] 厂商
        [measured] 实测
        [derived] 推导
        [documented] 文档
       *[assumed] 假设
    }
part = 部分
that-it-was-measured = （实测）
from-low-to-high = { $low } 至 { $high }
output = 输出
