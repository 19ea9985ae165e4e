### What was predicted before a measurement was known, beside the measurement and what follows now.

# number: the cards of the measured system
h100-sglang =
    .en = 96 H100, SGLang
    .zh = 96 卡 H100，SGLang

h20-sglang =
    .en = H20-96G, SGLang
    .zh = H20-96G，SGLang

# number: the cards of the measured system
h800-rtp-llm =
    .en = 272 H800, RTP-LLM
    .zh = 272 卡 H800，RTP-LLM

h200-vllm =
    .en = H200, vLLM
    .zh = H200，vLLM

cloudmatrix384 =
    .en = 910C, CloudMatrix384
    .zh = 910C，CloudMatrix384

predicted-blind =
    .en = predicted blind
    .zh = 当时预测

predicted-now =
    .en = predicted now
    .zh = 现在预测

median-error-blind =
    .en = median error, blind
    .zh = 误差中位数，当时

now =
    .en = now
    .zh = 现在

with-sign-blind =
    .en = signed error, blind
    .zh = 带符号，当时

in-interval-blind =
    .en = in the interval, blind
    .zh = 落入区间，当时

measured-token-s-per-card =
    .en = measured (token/s per card)
    .zh = 实测（token/s，每卡）

predicted-blind-error =
    .en = predicted blind (error)
    .zh = 当时预测（误差）

predicted-now-error =
    .en = predicted now (error)
    .zh = 现在预测（误差）

rate-per-card =
    .en = rate per card
    .zh = 每卡速率之比

token-s-per-card =
    .en = token/s per card
    .zh = 每卡吞吐（token/s）
