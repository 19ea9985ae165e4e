### The section on a processor measured end to end: its table, what was predicted, what came.

# number: the loads of the benchmark
decode-in-flight =
    .en = decode, 1 in flight
    .zh = 解码，并发 1

# number: the loads of the benchmark
decode-in-flight-2 =
    .en = decode, 16 in flight
    .zh = 解码，并发 16

prefill-of-one-prompt =
    .en = prefill of one prompt
    .zh = 一个 prompt 的预填充

other-matmuls =
    .en = other matmuls
    .zh = 其余矩阵乘

all-other-operators =
    .en = all other operators
    .zh = 其余算子

between-operators-and-steps =
    .en = between operators and steps
    .zh = 算子之间与步间

engine-own-kernels-on-one =
    .en = the engine's own kernels, on the one core that it computes on
    .zh = 引擎自己的算子，只用一个核计算

random-weights-send-all-tokens =
    .en = random weights send all tokens to the same experts
    .zh = 随机权重把所有 token 送往相同专家

as-many-operators-as-profile =
    .en = as many operators as the profile counts
    .zh = 剖析数出的算子个数

time-between-operators-and-steps =
    .en = time between operators and steps, as profiled
    .zh = 剖析测得的算子间与步间时间

as-predicted =
    .en = as predicted
    .zh = 原预测

with-one-after-other =
    .en = with, one after the other
    .zh = 依次计入

tpot-mean-error =
    .en = TPOT, mean error
    .zh = TPOT 平均误差

ttft-mean-error =
    .en = TTFT, mean error
    .zh = TTFT 平均误差

# number: the intervals of all answers
predicted =
    .en = { $name } predicted, 80%
    .zh = { $name } 预测（80%）

error-with-causes =
    .en = error with the causes included
    .zh = 计入原因后的误差

# number: the intervals of all answers
predicted-interval =
    .en = predicted, 80% interval
    .zh = 预测，80% 区间

with-causes-in-place =
    .en = with the causes in place
    .zh = 计入原因后

# number: the loads of the benchmark
requests-in-flight =
    .en = requests in flight
    .zh = 并发请求

tpot-ms =
    .en = TPOT, ms
    .zh = TPOT，ms

part-of-step =
    .en = part of a step
    .zh = 步的组成

predicted-2 =
    .en = { $phases }: predicted
    .zh = { $phases }：预测

profiled =
    .en = profiled
    .zh = 剖析

matmuls =
    .en = matmuls
    .zh = 矩阵乘

attention-core-decode =
    .en = attention core, decode
    .zh = 注意力核心，解码

attention-core-prefill =
    .en = attention core, prefill
    .zh = 注意力核心，预填充

pytorch-two-cores =
    .en = PyTorch, two cores
    .zh = PyTorch，两核

vllm-one-core =
    .en = vLLM, one core
    .zh = vLLM，一核

shapes =
    .en = { $text }: shapes
    .zh = { $text }：形状数

# number: the share of runs that the column states
error-median-in =
    .en = error: median / 90th percentile
    .zh = 误差：中位数 / 90% 分位数
