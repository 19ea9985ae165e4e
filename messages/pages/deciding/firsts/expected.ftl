### Eight questions: what is expected by hand, and what is computed.

random-tokens =
    .en = random tokens
    .zh = 随机 token

chat =
    .en = chat
    .zh = 对话

code =
    .en = code
    .zh = 代码

# number: of the question
h200-users =
    .en = 500 users on H200 at the least cost: TPOT ≤ 50 ms, TTFT p90 ≤ 3 s; 4,096 tokens in, 1,024 out
    .zh = H200 上以最低成本服务 500 个用户：TPOT ≤ 50 ms，TTFT p90 ≤ 3 s；输入 4,096、输出 1,024 token

# number: as it is expected
h200-users-expected =
    .en = about 40 cards in FP8 (one pool or two), or fewer in W4AFP8, whose quality score has to be shown
    .zh = FP8 约 40 张卡（一个或两个池）；W4AFP8 用卡更少，但须附质量分数

# number: of the question
million-requests =
    .en = a million requests a day on 910C, 20.8 a second in the busiest hour: TPOT ≤ 50 ms, TTFT p90 ≤ 3 s; 2,048 tokens in, 1,024 out
    .zh = 910C 上每天 100 万个请求，最忙一小时每秒 20.8 个：TPOT ≤ 50 ms，TTFT p90 ≤ 3 s；输入 2,048、输出 1,024 token

million-requests-expected =
    .en = W8A8 in a prefill pool and a decode pool, plus spare servers
    .zh = W8A8，预填充与解码分为两个池，另加备用服务器

# number: of the question
h20-throughput =
    .en = most tokens from 2×8 H20: TPOT ≤ 60 ms; 2,048 tokens in, 1,024 out
    .zh = 2×8 张 H20 的最高吞吐：TPOT ≤ 60 ms；输入 2,048、输出 1,024 token

h20-throughput-expected =
    .en = FP8 with TP16 over both servers, or W4AFP8 with TP8 in each
    .zh = FP8 跨两台做 TP16，或 W4AFP8 每台各做 TP8

# number: of the question
longest-context =
    .en = longest context for 8 users on 8×910B4-1, the 910B4 of 64 GB; times for 8,192 tokens in, 1,024 out
    .zh = 8×910B4-1（64 GB 的 910B4）上 8 个用户的最长上下文；各时间按输入 8,192、输出 1,024 token

longest-context-expected =
    .en = four-bit weights; the cache split across ranks, if an engine supports that
    .zh = 4 比特权重；引擎若支持，把缓存切分到各 rank

drafts =
    .en = are MTP tokens worth it
    .zh = MTP 投机是否值得

drafts-expected =
    .en = yes, one MTP token per step; the gain depends on the kind of text
    .zh = 值得，每步投机一个 token；收益取决于文本种类

# number: of the question
pools =
    .en = one pool or two on 4×8 H800: TPOT ≤ 50 ms, TTFT p90 ≤ 3 s; 4,096 tokens in, 1,024 out
    .zh = 4×8 张 H800，一个池还是两个池：TPOT ≤ 50 ms，TTFT p90 ≤ 3 s；输入 4,096、输出 1,024 token

# number: as it is expected
pools-expected =
    .en = two pools, with about 2.6 times the throughput of one
    .zh = 两个池，吞吐约为一个池的 2.6 倍

# number: of the question
agents =
    .en = 40 coding agents, 128k tokens, 90% cached, on H200: TPOT ≤ 50 ms, TTFT p90 ≤ 10 s; 1,024 tokens out
    .zh = H200 上 40 个编码智能体，128k token、九成命中：TPOT ≤ 50 ms，TTFT p90 ≤ 10 s；输出 1,024 token

agents-expected =
    .en = data-parallel attention across two servers, or two pools
    .zh = 跨两台服务器做数据并行注意力，或分为两个池

# number: of the question
packages =
    .en = most tokens of V3.2 from 16 packages of 910C: TPOT ≤ 50 ms, TTFT p90 ≤ 3 s; 4,096 tokens in, 1,024 out
    .zh = 16 颗 910C 上 V3.2 的最高吞吐：TPOT ≤ 50 ms，TTFT p90 ≤ 3 s；输入 4,096、输出 1,024 token

packages-expected =
    .en = each package counted as two dies; an interval narrow enough to decide by
    .zh = 每颗按两个 die 计；区间窄到足以决策

asked =
    .en = asked
    .zh = 问题

expected-by-hand =
    .en = expected by hand
    .zh = 手工预期

computed-now =
    .en = computed
    .zh = 计算结果

nothing-was-found-that-starts =
    .en = nothing was found that starts and keeps its limits when simulated
    .zh = 没有找到既能启动、又在仿真中满足约束的部署

one-pool-yields =
    .en = best in one pool: { $rate } (`{ $precision }`); two yield { $times } times as much
    .zh = 单池最优：{ $rate }（`{ $precision }`），两池为其 { $times } 倍

no-release-starts-it =
    .en = no release starts it
    .zh = 没有引擎版本能启动

time-simulated =
    .en = { $name } { $at } { $time }
    .zh = { $name } { $at ->
        [mean] 均值
       *[other] { $at }
    } { $time }

simulated =
    .en = simulated { $seen }: { $kept ->
        [yes] limits kept
       *[no] limits not kept
    }
    .zh = 仿真 { $seen }：{ $kept ->
        [yes] 满足约束
       *[no] 未满足约束
    }

all-limits-in-draws =
    .en = all limits kept in { $share } of draws
    .zh = { $share } 的抽样中满足全部约束

one-draft-gains-times =
    .en = in `{ $deployment }` one MTP token shortens the time per token by these factors: { $gains }
    .zh = MTP 投机一个 token，每 token 提速（`{ $deployment }`）：{ $gains } 倍
