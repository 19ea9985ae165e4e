### A prompt through two pools: its prefill, the transfer of its cache, its decode, in time.

prompt-through-pools =
    .en = A prompt through two pools
    .zh = 一条 prompt 经过两个资源池

course-of-prompt =
    .en = The prefill pool computes the prompt in { $prefill }. Its cache crosses the network in { $sent }. Decode steps of { $step } go on meanwhile, and the request joins them { $joins } after its start.
    .zh = 预填充池计算 prompt 用 { $prefill }，缓存经网络传输用 { $sent }。其间解码步照常进行，每步 { $step }；请求在开始后 { $joins } 加入解码。

tokens-and-requests =
    .en = prompt of { $tokens } tokens, { $requests } requests decoding
    .zh = 输入 { $tokens } token，{ $requests } 个请求在解码

prefill-pool =
    .en = prefill pool: { $time }, then the next prompt
    .zh = 预填充池：{ $time }，然后是下一条 prompt

transfer =
    .en = transfer of the KV cache: { $time }
    .zh = 传输 KV 缓存：{ $time }

decode-pool =
    .en = decode pool: steps of { $time }, never interrupted
    .zh = 解码池：每步 { $time }，不被打断

filled-and-outlined =
    .en = filled: this request; outlined: others only
    .zh = 实心：本请求；空心：只有其他请求

seconds-from-start =
    .en = seconds from the start of its prefill
    .zh = 自预填充开始的秒数
