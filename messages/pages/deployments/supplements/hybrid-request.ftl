### One request on two cards with experts on the host: its wait, and what is printed of it.

prompt =
    .en = prompt
    .zh = 输入 token 数

fewer-cards =
    .en = fewer cards
    .zh = 卡数减少

per-card-two-cards =
    .en = per card, two cards
    .zh = 两卡方案单卡

per-card-eight-cards =
    .en = per card, eight cards
    .zh = 八卡方案单卡

advantage-per-card =
    .en = advantage per card
    .zh = 单卡优势

time-to-first-token-ratio =
    .en = time to first token, ratio
    .zh = 首 token 延迟之比

time-per-output-token-ratio =
    .en = time per output token, ratio
    .zh = 每输出 token 时间之比

rate-of-one-request-ratio =
    .en = rate of one request, ratio
    .zh = 单请求速率之比

largest-throughput-ratio =
    .en = largest throughput, ratio
    .zh = 最大吞吐之比

time-per-output-token-of =
    .en = time per output token of one request, from its latency
    .zh = 由延迟推算的单请求每输出 token 时间

rate-of-one-request-from =
    .en = rate of one request, from its latency
    .zh = 由延迟推算的单请求速率

time-per-output-token-of-one =
    .en = time per output token of one request, at all lengths
    .zh = 单请求每输出 token 时间（各长度）

weights-in-bits =
    .en = weights in 16 bits
    .zh = 16 比特时的权重

weights-in-host-memory =
    .en = weights in host memory
    .zh = 主机内存中的权重

weights-on-both-cards =
    .en = weights on both cards
    .zh = 两卡上的权重

from-its-other-numbers-or =
    .en = from its other numbers, or counted
    .zh = 由其他数值或计数所得
