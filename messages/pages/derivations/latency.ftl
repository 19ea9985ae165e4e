### The laws of the chapter on latency: what they come out as, and kernels measured beside them.

one-shot-switch =
    .en = one-shot, switch
    .zh = 一轮法，交换芯片

ring-switch =
    .en = ring, switch
    .zh = 环，交换芯片

one-shot-full-mesh =
    .en = one-shot, full mesh
    .zh = 一轮法，全互联

ascend-bf16 =
    .en = Ascend 910B, BF16
    .zh = 昇腾 910B，BF16

ascend-int8 =
    .en = Ascend 910B, INT8
    .zh = 昇腾 910B，INT8

h800-fp8 =
    .en = H800, FP8
    .zh = H800，FP8

h20-fp8 =
    .en = H20, FP8
    .zh = H20，FP8

measured-tflops-int8-tops =
    .en = measured (TFLOPS, INT8: TOPS)
    .zh = 实测（TFLOPS，INT8 为 TOPS）

error-in-time-of =
    .en = error in time of $\max(C, M)$
    .zh = 按 $\max(C, M)$ 的用时误差

error-in-time-of-2 =
    .en = error in time of $C + M$
    .zh = 按 $C + M$ 的用时误差

that-fits =
    .en = $\varphi$ that fits
    .zh = 相符的 $\varphi$

all-hidden-roofline =
    .en = all hidden (roofline)
    .zh = 完全掩盖（屋顶线）

one-after-other =
    .en = one after the other
    .zh = 先后进行

rows-over-rows-of-ridge =
    .en = rows over the rows of the ridge point
    .zh = 行数与脊点行数之比

rate-over-rate-with-many =
    .en = rate over the rate with many rows
    .zh = 速率与行数很多时的速率之比

operations =
    .en = operations
    .zh = 运算量

peak =
    .en = peak
    .zh = 峰值

share-of-it =
    .en = share of it
    .zh = 峰值利用率

bytes =
    .en = bytes
    .zh = 字节

share-of-bandwidth =
    .en = share of bandwidth
    .zh = 带宽利用率

other-classes-have-same-equation =
    .en = The other classes have the same equation with these letters, here for a decode step. In prefill the head has only { $last_tokens } rows, the last tokens of the prompts in a chunk.
    .zh = 其余各类的公式相同，符号如表（解码步）。预填充时输出头只有 { $last_tokens } 行，即分块中各条 prompt 的末 token。

arithmetic-of-tile-ps =
    .en = arithmetic of a tile (ps)
    .zh = 一整块的计算（ps）

weights-and-rows-ps =
    .en = weights and rows (ps)
    .zh = 权重与行（ps）

vector-unit-ps =
    .en = vector unit (ps)
    .zh = 向量单元（ps）

by-law-ps =
    .en = by the law (ps)
    .zh = 按本页算法（ps）

measured-ps =
    .en = measured (ps)
    .zh = 实测（ps）

speed-up-over-bit-weights =
    .en = speed-up over 16-bit weights
    .zh = 与 16 比特权重相比的加速

with-fused-kernel =
    .en = with a fused kernel, $\zeta \to 0$
    .zh = 融合算子，$\zeta \to 0$

with-weights-of-no-size =
    .en = with weights of no size, $b \to 0$
    .zh = 权重不占空间，$b \to 0$

no-faster-at-all-at =
    .en = no faster at all at $\zeta$ =
    .zh = 毫无加速的 $\zeta$

bytes-of-weight-scale-included =
    .en = bytes of a weight, scale included
    .zh = 每个权重的字节（含缩放因子）

times-smaller-than-bits =
    .en = times smaller than 16 bits
    .zh = 16 比特的字节数与它之比

time-to-read-one-ps =
    .en = time to read one (ps)
    .zh = 读一个权重（ps）

time-to-widen-it-ps =
    .en = time to dequantise it (ps)
    .zh = 反量化一个权重（ps）

time-to-read-bit-one =
    .en = time to read a 16-bit one (ps)
    .zh = 读一个 16 比特权重（ps）

ascend-routed-experts-in-w4a16 =
    .en = Ascend 910B1, routed experts in w4a16
    .zh = 昇腾 910B1，w4a16 路由专家

for-large-loads-best-is =
    .en = For large loads the best $\theta$ is small, and the slowest rank exceeds the mean by { $tends_to }.
    .zh = 负载很大时最优的 $\theta$ 很小，最慢的 rank 比平均多 { $tends_to }。

tokens-per-rank =
    .en = tokens per rank
    .zh = 每 rank 的 token

mean-load =
    .en = mean load
    .zh = 平均负载

excess-at-least =
    .en = excess, at least
    .zh = 超额，至少

at-most =
    .en = at most
    .zh = 至多

for-large-loads =
    .en = for large loads
    .zh = 负载很大时

all-experts-on-cards =
    .en = all experts on the cards, $\omega_f = 0$
    .zh = 专家全在卡上，$\omega_f = 0$

none-on-cards-memory-and =
    .en = none on the cards, memory and drives no bottleneck
    .zh = 全不在卡上，内存与硬盘不成瓶颈

every-expert-chosen-at-any =
    .en = every expert chosen: $E_f$, at any $\chi_d$
    .zh = 全部专家都被选中：$E_f$，与 $\chi_d$ 无关

found-on-cards-of-distinct =
    .en = found on the cards, of the distinct experts
    .zh = 不同专家中卡上已有的比例

few-tokens =
    .en = few tokens, $s \to 0$
    .zh = token 很少，$s \to 0$

many-tokens =
    .en = many tokens, $s \to \infty$
    .zh = token 很多，$s \to \infty$

most-popular-are-kept =
    .en = the most popular are kept
    .zh = 留存最热门的专家

all-of-shorter-hidden =
    .en = all of the shorter time hidden, $\eta_o = 1$
    .zh = 较短的完全被掩盖，$\eta_o = 1$

host-part-as-well =
    .en = the host's part as well, $\eta_o = \eta_{ "{" }ho{ "}" } = 1$
    .zh = 主机部分也完全被掩盖，$\eta_o = \eta_{ "{" }ho{ "}" } = 1$

one-after-other-2 =
    .en = one after the other, $\eta_o = \eta_{ "{" }ho{ "}" } = 0$
    .zh = 先后进行，$\eta_o = \eta_{ "{" }ho{ "}" } = 0$

host-much-faster-than-card =
    .en = host much faster than the card
    .zh = 主机远快于卡

host-much-slower =
    .en = host much slower
    .zh = 主机远慢于卡

pays-if-communication-is-shorter =
    .en = pays if communication is the shorter, from $B$ =
    .zh = 通信较短时，值得拆分的最小 $B$

pays-if-computation-is-shorter =
    .en = pays if computation is the shorter, from $B$ =
    .zh = 计算较短时，值得拆分的最小 $B$

time-of-two-halves-over =
    .en = time of two micro-batches over one batch, $B \to 0$, communication the shorter
    .zh = 双 micro-batch 与整批用时之比，$B \to 0$，通信较短

same-best-case =
    .en = the same, $B \to \infty$, best case ($c_1 = x_1$)
    .zh = 同上，$B \to \infty$，最好情形（$c_1 = x_1$）

none-more-cards-are-always =
    .en = none: more cards are always faster
    .zh = 无：卡越多越快

best =
    .en = best $t$
    .zh = 最优 $t$
