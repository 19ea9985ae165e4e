### Learn: one request on a line of time.

title =
    .en = One request, from prompt to last token
    .zh = 一个请求：从输入到最后一个 token

about =
    .en = A prompt of { $input } tokens is read in one step, prefill, which gives the first token after { $first }. Each further step, decode, gives one token, every { $token }, until { $output } tokens are there after { $whole }. The cache keeps what was read and grows by a token with every step.
    .zh = { $input } token 的输入在一步 prefill 中读完，{ $first } 后得到首 token；此后每步 decode 输出一个 token，间隔 { $token }，{ $whole } 后输出完 { $output } 个。缓存保留已读的内容，每步增加一个 token。

prompt =
    .en = prompt: { $input } tokens
    .zh = 输入：{ $input } token

prefill =
    .en = prefill
    .zh = prefill

one-step =
    .en = one step
    .zh = 一步

decode =
    .en = decode: a token a step
    .zh = decode：每步一个 token

answer =
    .en = answer: { $output } tokens
    .zh = 输出：{ $output } token

cache-grows =
    .en = KV cache: keeps what was read, a token more a step
    .zh = KV 缓存：保留已读的内容，每步增加一个 token

each-step-reads =
    .en = A step reads the weights once for a whole batch.
    .zh = 每一步为整个批次读一遍权重，再读各请求的缓存。

ttft =
    .en = TTFT { $first }
    .zh = TTFT { $first }

tpot =
    .en = then a token every { $token } (TPOT)
    .zh = 此后每 { $token } 一个 token（TPOT）

to-scale =
    .en = time, to scale
    .zh = 时间（按比例）

end =
    .en = last token after { $whole }
    .zh = { $whole } 后输出结束
