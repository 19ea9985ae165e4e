### What the page on errors is made of: the bars, and errors by group of rows.

nothing-is-fitted =
    .en = nothing is fitted
    .zh = 不作拟合

random-halves =
    .en = random halves
    .zh = 随机对半

# number: where the protocol splits the rows
fitted-at-few-requests =
    .en = fitted at ≤ 4, predicts ≥ 6 requests
    .zh = 用 ≤ 4 并发拟合，预测 ≥ 6 并发

# number: where the protocol splits the rows
fitted-at-short-inputs =
    .en = fitted at ≤ 1,024, predicts longer
    .zh = 用 ≤ 1,024 token 拟合，预测更长

random-halves-single-requests =
    .en = random halves, single requests of those predicted
    .zh = 随机对半，只看被预测的单请求行

each-row-from-all-others =
    .en = each row from all others
    .zh = 逐行留一

each-length-from-all-others =
    .en = each length from all others
    .zh = 逐输入长度留一

prefill-throughput =
    .en = prefill throughput
    .zh = 预填充吞吐

misses-prompts-that-come-together =
    .en = prompts that come together take longer than one alone; no term of a step does that ([below](#validation-ttft))
    .zh = 同时到达的 prompt 比单独一条耗时更长，单步中没有哪一项会造成这种现象（[见“首 token”](#validation-ttft)）

misses-as-for-mean =
    .en = as for the mean
    .zh = 与均值相同

misses-as-for-mean-of-single-requests =
    .en = as for the mean: fitted to rows of several requests as well, single ones come out too slow
    .zh = 与均值相同：拟合时要兼顾多并发的行，单请求便偏慢

misses-uneven-noise =
    .en = single requests fit worst, and a fit has one noise for all rows
    .zh = 单请求行偏离最大，而一次拟合的噪声对所有行是同一个数

misses-residuals-of-first-tokens =
    .en = the mechanism missing in first tokens leaves residuals, and the intervals must hold them
    .zh = 首 token 所缺的机制留下残差，区间要把它们包住

misses-systems-apart =
    .en = systems differ by more than their inputs' ranges explain, and an interval made from other systems must hold that ([below](#validation-coverage))
    .zh = 系统之间的差别大于输入区间所能解释的，而区间由其他系统得出，必须把这一差别包住（[见下文](#validation-coverage)）

misses-few-others =
    .en = half of the rows belong to two systems; their classes have few others, so the wide interval holds all of them ([below](#validation-coverage))
    .zh = 半数的行属于两个系统，而同类的其他系统很少、区间很宽，这些行全在其内（[见下文](#validation-coverage)）

misses-one-outlier =
    .en = one row of its six lengths is an outlier; without it the bar is met, in the next line
    .zh = 六个长度中有一行离群；去掉后即达标，见下一行

awq-tpot-halves-mean =
    .en = 8×910B1, TPOT: halves, mean
    .zh = 8×910B1，TPOT：对半，均值

# number: where the protocol splits the rows
awq-tpot-to-more-requests-mean =
    .en = 8×910B1, TPOT: ≥ 6 requests from ≤ 4, mean
    .zh = 8×910B1，TPOT：≤ 4 并发外推至 ≥ 6，均值

# number: where the protocol splits the rows
awq-tpot-to-more-requests-worst =
    .en = 8×910B1, TPOT: ≥ 6 requests from ≤ 4, worst row
    .zh = 8×910B1，TPOT：≤ 4 并发外推至 ≥ 6，最差行

# number: where the protocol splits the rows
awq-tpot-to-longer-mean =
    .en = 8×910B1, TPOT: longer prompts from ≤ 1,024 tokens, mean
    .zh = 8×910B1，TPOT：≤ 1,024 token 外推至更长，均值

# number: where the protocol splits the rows
awq-tpot-to-longer-worst =
    .en = 8×910B1, TPOT: longer prompts from ≤ 1,024 tokens, worst row
    .zh = 8×910B1，TPOT：≤ 1,024 token 外推至更长，最差行

awq-ttft-halves-mean =
    .en = 8×910B1, TTFT: halves, mean
    .zh = 8×910B1，TTFT：对半，均值

awq-ttft-halves-median =
    .en = 8×910B1, TTFT: halves, median
    .zh = 8×910B1，TTFT：对半，中位数

awq-ttft-single-requests-mean =
    .en = 8×910B1, TTFT: halves, single requests, mean
    .zh = 8×910B1，TTFT：对半，单请求，均值

other-engine-tpot-mean =
    .en = other engine, TPOT: each row from the others, mean
    .zh = 另一引擎，TPOT：逐行留一，均值

hybrid-tpot-mean =
    .en = 2×910B4-1 with experts on the host, TPOT: each length from the others, mean
    .zh = 2×910B4-1 + 主机专家，TPOT：逐长度留一，均值

hybrid-tpot-without-outlier-mean =
    .en = 2×910B4-1 with experts on the host, without the outlier, mean
    .zh = 2×910B4-1 + 主机专家，剔除离群的一行，均值

all-systems-median-of-medians =
    .en = all systems, TPOT and throughput, nothing fitted: median of medians
    .zh = 全部系统，TPOT 与吞吐，不作拟合：各系统中位数的中位数

# number: the intervals of all answers
nothing-fitted-rows-inside =
    .en = 80% intervals, nothing fitted: rows inside
    .zh = 80% 区间，不作拟合：落入的行

# number: the intervals of all answers
nothing-fitted-width =
    .en = 80% intervals, nothing fitted: median of high/low
    .zh = 80% 区间，不作拟合：上下限之比的中位数

# number: the intervals of all answers
calibrated-tpot-rows-inside =
    .en = 80% intervals, calibrated TPOT: rows inside
    .zh = 80% 区间，标定后的 TPOT：落入的行

# number: the intervals of all answers
calibrated-tpot-width =
    .en = 80% intervals, calibrated TPOT: median of high/low
    .zh = 80% 区间，标定后的 TPOT：上下限之比的中位数

# number: the intervals of all answers
calibrated-ttft-rows-inside =
    .en = 80% intervals, calibrated TTFT: rows inside
    .zh = 80% 区间，标定后的 TTFT：落入的行

# number: the intervals of all answers
calibrated-ttft-width =
    .en = 80% intervals, calibrated TTFT: median of high/low
    .zh = 80% 区间，标定后的 TTFT：上下限之比的中位数

system-and-protocol =
    .en = system and protocol
    .zh = 系统与验证方式

bar =
    .en = target
    .zh = 目标

reached =
    .en = reached
    .zh = 达到

met =
    .en = met
    .zh = 达标

plain-roofline =
    .en = plain roofline
    .zh = 普通屋顶线

roofline-as-bar-was-set =
    .en = roofline, as the target was set
    .zh = 设目标时所引屋顶线

what-is-missing =
    .en = what is missing
    .zh = 缺什么

row =
    .en = { $length } tokens, { $requests } { $count ->
        [one] request
       *[other] requests
    }
    .zh = { $length } token、{ $requests } 并发

with-sign =
    .en = signed error
    .zh = 带符号
