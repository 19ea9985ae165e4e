### Steps in the chapter on compute: what they are made of, operator by operator, and their limits.

rows-of-logits =
    .en = rows of logits
    .zh = logits 行数

positions-attended-to =
    .en = attended to, $A$
    .zh = 关注的位置 $A$

attended-to-in-window =
    .en = attended to in a window, $A_w$
    .zh = 窗口内关注的位置 $A_w$

scored-by-indexer =
    .en = scored by an indexer
    .zh = 索引器打分的位置

cached-positions-read =
    .en = cached positions read
    .zh = 读取的缓存位置

read-in-window =
    .en = read in a window
    .zh = 窗口内读取的位置

index-keys-read =
    .en = index keys read
    .zh = 读取的索引键

expanded-again =
    .en = expanded again
    .zh = 重新展开的位置

all-reduce-of-embedding =
    .en = all-reduce of the embedding
    .zh = 嵌入的 all-reduce

norm-before-attention =
    .en = norm before attention
    .zh = 注意力前归一化

query-down =
    .en = query down
    .zh = 查询降维

norm-of-query-latent =
    .en = norm of the query latent
    .zh = 查询潜向量归一化

query-up =
    .en = query up
    .zh = 查询升维

key-value-down =
    .en = key/value down
    .zh = 键值降维

norm-of-latent =
    .en = norm of the latent
    .zh = 键值潜向量归一化

key-value-up-expanded =
    .en = key/value up, expanded
    .zh = 键值升维（展开）

key-up-absorbed =
    .en = key up, absorbed
    .zh = 键升维（吸收）

scores-and-values =
    .en = scores and values
    .zh = 打分与取值

value-up-absorbed =
    .en = value up, absorbed
    .zh = 值升维（吸收）

output-projection =
    .en = output projection
    .zh = 输出投影

all-reduce-after-attention =
    .en = all-reduce after attention
    .zh = 注意力后的 all-reduce

norm-before-network =
    .en = norm before the network
    .zh = 前馈前归一化

dense-gate-and-up =
    .en = dense: gate and up
    .zh = 稠密：门控与升维

dense-gate =
    .en = dense: gate
    .zh = 稠密：门控相乘

dense-down =
    .en = dense: down
    .zh = 稠密：降维

rows-gathered-and-returned =
    .en = rows gathered and returned
    .zh = 各行的收集与归还

routed-experts-gate-and-up =
    .en = routed experts: gate and up
    .zh = 路由专家：门控与升维

routed-experts-gate =
    .en = routed experts: gate
    .zh = 路由专家：门控相乘

routed-experts-down =
    .en = routed experts: down
    .zh = 路由专家：降维

shared-expert-gate-and-up =
    .en = shared expert: gate and up
    .zh = 共享专家：门控与升维

shared-expert-gate =
    .en = shared expert: gate
    .zh = 共享专家：门控相乘

shared-expert-down =
    .en = shared expert: down
    .zh = 共享专家：降维

all-reduce-after-network =
    .en = all-reduce after the network
    .zh = 前馈后的 all-reduce

final-norm =
    .en = final norm
    .zh = 末层归一化

all-gather-of-logits =
    .en = all-gather of the logits
    .zh = logits 的 all-gather

times-per-step =
    .en = times
    .zh = 次数

weights-gb =
    .en = weights (GB)
    .zh = 权重（GB）

activations-gb =
    .en = activations (GB)
    .zh = 激活（GB）

cache-gb =
    .en = cache (GB)
    .zh = 缓存（GB）

payload-of-each-mb =
    .en = payload of each (MB)
    .zh = 单次数据量（MB）

core-of-heads =
    .en = core, { $heads } heads
    .zh = 核心，{ $heads } 头

per-micro-batch =
    .en = per micro-batch
    .zh = 每个 micro-batch

chunk-of-one-prompt =
    .en = chunk of one prompt
    .zh = 单条 prompt 的分块

chunk-of-burst =
    .en = chunk of a burst
    .zh = 突发的分块

step-split-into-micro-batches =
    .en = A step split into $\mu$ micro-batches does everything $\mu$ times, on $1/\mu$ of the tokens each. A chunk has $T_1$ tokens, or $T_b$ where several prompts share it.
    .zh = 分成 $\mu$ 个 micro-batch 的步，每项工作做 $\mu$ 遍，每遍只处理 $1/\mu$ 的 token。一个分块有 $T_1$ 个 token，由多条 prompt 共用时为 $T_b$ 个。

positions-without-prefix =
    .en = positions, no prefix, over $n^2$, $n \to \infty$
    .zh = 无前缀时位置数与 $n^2$ 之比，$n \to \infty$

positions-that-chunks-add =
    .en = positions of $m$ chunks of $T$ tokens, less those of one of $m\,T$
    .zh = $m$ 个 $T$ token 的分块与一个 $m\,T$ token 的分块的位置数之差

positions-expanded-again =
    .en = positions expanded again
    .zh = 重新展开的位置数

tokens-cached =
    .en = { $tokens } cached
    .zh = 已缓存 { $tokens }

tokens-of-request-in-step =
    .en = tokens of the request in the step
    .zh = 请求在这一步中的 token 数

absorbed-expanded =
    .en = absorbed / expanded
    .zh = 吸收与展开的运算之比

distinct-experts-of-in-layer =
    .en = Distinct experts of { $experts } in a layer of DeepSeek-V3, { $chosen } chosen per token.
    .zh = DeepSeek-V3 每层 { $experts } 个专家、每 token 选 { $chosen } 个时，选中的不同专家数。

skew-of-routing =
    .en = skew of the routing, $\psi$
    .zh = 路由倾斜 $\psi$

where-skew-comes-from =
    .en = Where $\psi$ comes from
    .zh = $\psi$ 的来源

curve-of-skew =
    .en = skew $\psi$ = { $skew }
    .zh = 倾斜 $\psi$ = { $skew }

index-order =
    .en = index order
    .zh = 按编号

simulated =
    .en = simulated
    .zh = 抽样

excess-of-fullest-rank =
    .en = By how much the most loaded rank exceeds the mean load. { $experts } experts, { $chosen } per token, { $tokens } tokens per rank, $\psi$ = { $skew }: { $origin }.
    .zh = 负载最高的 rank 超出平均负载的比例。{ $experts } 个专家，每 token 选 { $chosen } 个，每 rank { $tokens } 个 token，$\psi$ = { $skew }：{ $origin }。

matmuls-all-bytes =
    .en = **matmuls; all bytes together: { $bytes } GB**
    .zh = **矩阵乘合计；各列字节共 { $bytes } GB**

operators-of-decode-step =
    .en = A decode step of DeepSeek-V3 in BF16: { $requests } requests at { $context } tokens of context, uniform routing, one of eight tensor-parallel ranks, amounts of all layers. Operations of norms and gates are approximate.
    .zh = DeepSeek-V3（BF16）的一个解码步：{ $requests } 个请求，上下文 { $context } token，路由均匀，八个张量并行 rank 之一，各层合计。归一化与门控的运算数为近似值。

operators-of-chunk =
    .en = A chunk of prefill: one prompt of { $prompt } tokens
    .zh = 一个预填充分块：一条 { $prompt } token 的 prompt

requests-of-replica-one-token =
    .en = requests of a replica, one token each
    .zh = 副本的请求数，每个一个 token

flop-per-byte =
    .en = FLOP per byte
    .zh = 每字节运算数
