### Whole steps of deployments in the chapter on latency: where their time goes, what changes it.

same-for-requests =
    .en = The same for { $requests } requests
    .zh = { $requests } 个请求时

computation-ms =
    .en = computation (ms)
    .zh = 计算（ms）

communication-ms =
    .en = communication (ms)
    .zh = 通信（ms）

one-batch-ms =
    .en = one batch (ms)
    .zh = 整批（ms）

overlap-within-ms =
    .en = overlap within (ms)
    .zh = 批内重叠（ms）

two-streams-ms =
    .en = two streams (ms)
    .zh = 两路（ms）

two-halves-ms =
    .en = two micro-batches (ms)
    .zh = 双 micro-batch（ms）

reading-ms =
    .en = reading (ms)
    .zh = 读取（ms）

arithmetic-ms =
    .en = arithmetic (ms)
    .zh = 计算（ms）

hidden-states-ms =
    .en = hidden states (ms)
    .zh = 隐藏状态传输（ms）

hand-over-ms =
    .en = hand-over (ms)
    .zh = 交接（ms）

its-own-memory =
    .en = its own memory
    .zh = 本卡显存

host-memory-over-links =
    .en = host memory, over the links
    .zh = 主机内存，经链路

host-memory-at-read-rate =
    .en = host memory, at its read rate
    .zh = 主机内存，按其读取速率

drive =
    .en = a drive
    .zh = 硬盘

kept-at-random =
    .en = kept at random
    .zh = 随机留存

most-popular-kept =
    .en = the most popular kept, $\psi = 1$
    .zh = 留存最热门的，$\psi = 1$

same-none-only-on-drive =
    .en = the same, none only on a drive
    .zh = 同上，无专家只在硬盘上

perfect-choice-on-cards-rest =
    .en = a perfect choice on the cards, the rest in memory
    .zh = 卡上所留全部命中，其余在内存

all-experts-on-cards =
    .en = all experts on the cards (they do not fit)
    .zh = 全部专家在卡上（实际放不下）

ascend-bf16 =
    .en = Ascend 910B2, BF16
    .zh = 昇腾 910B2，BF16

host-waiting-and-gap =
    .en = host: waiting and gap
    .zh = 主机：等待与步间空隙

experts-reading-and-arithmetic =
    .en = experts, reading and arithmetic
    .zh = 专家：读取与计算

kernel-boundaries =
    .en = kernel boundaries
    .zh = 算子间隔

step =
    .en = step
    .zh = 步

eight-ascend-w4a16 =
    .en = 8×Ascend 910B1, w4a16
    .zh = 8×昇腾 910B1，w4a16

eight-h800-fp8 =
    .en = 8×H800, FP8
    .zh = 8×H800，FP8

eight-h20-fp8 =
    .en = 8×H20, FP8
    .zh = 8×H20，FP8

server =
    .en = server
    .zh = 服务器

time-of-card-ms =
    .en = $\tau_D$ (ms)
    .zh = $\tau_D$（ms）

time-of-host-ms =
    .en = $\tau_H$ (ms)
    .zh = $\tau_H$（ms）

step-in-graph-ms =
    .en = step in a graph (ms)
    .zh = 图模式整步（ms）

step-without-graph-ms =
    .en = step without a graph (ms)
    .zh = 单算子模式整步（ms）

one-expert-from =
    .en = one expert of DeepSeek-V3 in 16 bits, from
    .zh = 一个 16 比特的 DeepSeek-V3 专家，来自

to-last-byte-us =
    .en = to the last byte (µs)
    .zh = 加载完成（µs）

access-by-document-us =
    .en = document S1, access, at most (µs)
    .zh = 文档 S1 的访问延迟，至多（µs）

one-step-of-replica-on =
    .en = one step of a replica on eight H20
    .zh = 八张 H20 上单副本的一步

loaded-per-layer =
    .en = loaded per layer, $E_f$
    .zh = 每层加载 $E_f$

from-drives =
    .en = from drives, $E_s$
    .zh = 来自硬盘 $E_s$

tokens-s-of-all-replicas =
    .en = tokens/s of all replicas
    .zh = 全部副本的 token/s

change =
    .en = change
    .zh = 变化

how-halves-are-placed =
    .en = DeepSeek-V3 in FP8 on { $cards } H800, expert-parallel size { $experts }, attention data-parallel; { $overlap }.
    .zh = DeepSeek-V3，FP8，{ $cards } 张 H800，专家并行度 { $experts }，注意力数据并行；{ $overlap }。

ranks-ms =
    .en = $t$ = { $cards } (ms)
    .zh = $t$ = { $cards }（ms）

acceptance-to-break-even =
    .en = acceptance to break even
    .zh = 最低接受率

measured-per-output-token =
    .en = measured per output token
    .zh = 每输出 token 实测

time-of-decode-step-ms =
    .en = time of a decode step (ms)
    .zh = 一个解码步的时间（ms）

requests =
    .en = { $count } { $count ->
        [one] request
       *[other] requests
    }
    .zh = { $count } 个请求

weights-widened-in-registers =
    .en = weights dequantised in registers, $\zeta = 0$
    .zh = 在寄存器内反量化，$\zeta = 0$

all-of-shorter-hidden =
    .en = all of the shorter time hidden, $\varphi = 1$
    .zh = 较短者完全掩盖，$\varphi = 1$

no-boundaries =
    .en = no boundaries, $\epsilon = 0$
    .zh = 没有算子间隔，$\epsilon = 0$

no-gap-between-steps =
    .en = no gap between steps, $h_g = 0$
    .zh = 没有步间空隙，$h_g = 0$

no-latency-of-collectives =
    .en = no latency of collectives, $\alpha = \alpha_2 = 0$
    .zh = 集合通信没有延迟，$\alpha = \alpha_2 = 0$

memory-twice-as-fast =
    .en = memory twice as fast, $2 B_m$
    .zh = 显存带宽加倍，$2 B_m$

what-if =
    .en = what if
    .zh = 假设

requests-ms =
    .en = { $requests } (ms)
    .zh = { $requests }（ms）
