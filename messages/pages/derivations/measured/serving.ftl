### What plans state and systems measured, held to Little's law and to chunks that are packed.

reading-cache =
    .en = reading the cache
    .zh = 读缓存

stall-by-prefill-of-others =
    .en = stall by the prefill of others
    .zh = 他人预填充造成的停顿

prompt =
    .en = prompt
    .zh = prompt

tpot-measured-ms =
    .en = TPOT, measured (ms)
    .zh = 实测 TPOT（ms）

more-than-with-short-prompts =
    .en = excess over short prompts, measured
    .zh = 比短 prompt 多

cache =
    .en = cache, computed
    .zh = 读缓存

stall =
    .en = stall, computed
    .zh = 停顿

requests-that-arrive-together =
    .en = requests that arrive together
    .zh = 同时到达的请求数

mean-ttft-s =
    .en = mean TTFT (s)
    .zh = 平均 TTFT（s）

row-by-row =
    .en = Row by row
    .zh = 逐行对照

prompts-of-measured =
    .en = prompts of { $tokens }, measured
    .zh = { $tokens } token 的 prompt，实测

tpot-ms =
    .en = TPOT (ms)
    .zh = TPOT（ms）

ttft-burst =
    .en = TTFT, burst
    .zh = TTFT，突发

ttft-steady =
    .en = TTFT, steady
    .zh = TTFT，稳态

tpot-burst =
    .en = TPOT, burst
    .zh = TPOT，突发

tpot-steady =
    .en = TPOT, steady
    .zh = TPOT，稳态

measured-by-prompt-length =
    .en = measured, by prompt length
    .zh = 实测，按输入长度

chunks-packed =
    .en = chunks packed
    .zh = 按打包分块

rule-of-prefills =
    .en = $(c_D + 1)/2$ prefills
    .zh = $(c_D + 1)/2$ 次预填充
