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
    .en = about 40 cards in FP8, one or two pools, or W4AFP8 with its score
    .zh = FP8 约 40 张卡，一个或两个池；或 W4AFP8 并给出分数

# number: of the question
million-requests =
    .en = a million requests a day on 910C, 20.8 a second in the busiest hour: TPOT ≤ 50 ms, TTFT p90 ≤ 3 s; 2,048 tokens in, 1,024 out
    .zh = 910C 上每天 100 万个请求，最忙一小时每秒 20.8 个：TPOT ≤ 50 ms，TTFT p90 ≤ 3 s；输入 2,048、输出 1,024 token

million-requests-expected =
    .en = W8A8 in two pools, plus spare servers
    .zh = W8A8，两个池，另加备用服务器

# number: of the question
h20-throughput =
    .en = most tokens from 2×8 H20: TPOT ≤ 60 ms; 2,048 tokens in, 1,024 out
    .zh = 2×8 张 H20 的最高吞吐：TPOT ≤ 60 ms；输入 2,048、输出 1,024 token

h20-throughput-expected =
    .en = FP8 over TP16, or two servers of TP8 in W4AFP8
    .zh = FP8 用 TP16，或 W4AFP8 的两台 TP8 服务器

# number: of the question
longest-context =
    .en = longest context for 8 users on 8×910B4-1, the 910B4 of 64 GB: 8,192 tokens in, 1,024 out
    .zh = 8×910B4-1 上 8 个用户的最长上下文

longest-context-expected =
    .en = four-bit weights; the cache divided among ranks where an engine can do so
    .zh = 4 比特权重；若引擎支持则把缓存分到各 rank

drafts =
    .en = are MTP tokens worth it
    .zh = 投机是否值得

drafts-expected =
    .en = keep one MTP token; how much it wins depends on the text
    .zh = 保留 MTP 投机一个 token；收益取决于文本种类

# number: of the question
pools =
    .en = one pool or two on 4×8 H800: TPOT ≤ 50 ms, TTFT p90 ≤ 3 s; 4,096 tokens in, 1,024 out
    .zh = 4×8 张 H800，一个池还是两个池：TPOT ≤ 50 ms，TTFT p90 ≤ 3 s；输入 4,096、输出 1,024 token

# number: as it is expected
pools-expected =
    .en = two pools, about 2.6 times the throughput of one, with their ratio and the first token
    .zh = 两个池，约为一个池的 2.6 倍，给出配比与首 token 时间

# number: of the question
agents =
    .en = 40 coding agents, 128k tokens, 90% cached, on H200: TPOT ≤ 50 ms, TTFT p90 ≤ 10 s; 1,024 tokens out
    .zh = H200 上 40 个编码智能体，128k token、九成命中：TPOT ≤ 50 ms，TTFT p90 ≤ 10 s；输出 1,024 token

agents-expected =
    .en = data-parallel attention over two servers, or two pools
    .zh = 跨两台服务器的数据并行注意力，或两个池

# number: of the question
packages =
    .en = most tokens of V3.2 from 16 packages of 910C: TPOT ≤ 50 ms, TTFT p90 ≤ 3 s; 4,096 tokens in, 1,024 out
    .zh = 16 颗 910C 上 V3.2 的最高吞吐：TPOT ≤ 50 ms，TTFT p90 ≤ 3 s；输入 4,096、输出 1,024 token

packages-expected =
    .en = dies and packages told apart, an interval narrow enough to decide
    .zh = 分别写明 die 与封装数，区间足以决策

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

starts-under =
    .en = starts under `{ $engine }`
    .zh = 可用 `{ $engine }` 启动

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
        [yes] kept
       *[no] not kept
    }
    .zh = 仿真 { $seen }：{ $kept ->
        [yes] 满足
       *[no] 未满足
    }

all-limits-in-draws =
    .en = all limits in { $share } of draws
    .zh = { $share } 的抽样满足全部约束

one-draft-gains-times =
    .en = in `{ $deployment }` one MTP token shortens the time per token by these factors: { $gains }
    .zh = MTP 投机一个 token 的收益（`{ $deployment }`）：{ $gains } 倍
