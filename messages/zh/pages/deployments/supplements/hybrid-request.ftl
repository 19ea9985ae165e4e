### One request on two cards with experts on the host: its wait, and what is printed of it.

prompt = 输入 token 数
fewer-cards = 卡数减少
per-card-two-cards = 两卡方案单卡
per-card-eight-cards = 八卡方案单卡
advantage-per-card = 单卡优势
time-to-first-token-ratio = 首 token 延迟之比
time-per-output-token-ratio = 每输出 token 时间之比
rate-of-one-request-ratio = 单请求速率之比
largest-throughput-ratio = 最大吞吐之比
time-per-output-token-of = 由延迟推算的单请求每输出 token 时间
rate-of-one-request-from = 由延迟推算的单请求速率
time-per-output-token-of-one = 单请求每输出 token 时间（各长度）
weights-in-bits = 16 比特时的权重
weights-in-host-memory = 主机内存中的权重
weights-on-both-cards = 两卡上的权重
from-its-other-numbers-or = 由其他数值或计数所得
