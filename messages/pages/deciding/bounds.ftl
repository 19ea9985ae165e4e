### Why a search that leaves out most deployments has tried all of them: counts, and bounds checked.

# number: of the goal and of what is changed in it
r1-in-bf16-on-server =
    .en = BF16, 64 users, one server of 8×H20
    .zh = 一台 8×H20，BF16，64 个用户

# number: of the goal and of what is changed in it
pace-beyond-reach =
    .en = 80 users, TPOT ≤ 10 ms, at most 16 910B2
    .zh = 至多 16 张 910B2，80 个用户，TPOT ≤ 10 ms

# number: of the goal and of what is changed in it
prompts-too-long =
    .en = FP8, 8 users, TTFT ≤ 1 s, at most 64 H20
    .zh = 至多 64 张 H20，FP8，8 个用户，TTFT ≤ 1 s

goal-of-several =
    .en = goal { $place }
    .zh = 目标 { $place }

number =
    .en = number
    .zh = 个数

deployments-of-which =
    .en = **deployments**, of which:
    .zh = **部署总数**，其中：

all-quantities-computed =
    .en = all quantities computed
    .zh = 完整计算的个数

what-became-of-them =
    .en = fate of the candidates
    .zh = 去向

what-became-of-every-deployment =
    .en = What became of every deployment, goal by goal
    .zh = 逐个目标：全部部署的去向

none-of-measured-systems-in =
    .en = None of the { $systems } measured systems in this book uses pipeline stages, so rows with `PP` rest on formulas alone. The longest pipeline here has { $longest } stages; list the lengths you trust under `space.pipeline`.
    .zh = 本书 { $systems } 个实测系统都没有用流水线，因此带 `PP` 的行只有公式依据。此处的流水线最长为 { $longest } 级；可在 `space.pipeline` 中只列信得过的级数。

no-deployment-of-this-goal =
    .en = No deployment of this goal was computed, so nothing is checked here.
    .zh = 本目标没有任何部署被计算，此处无可检验。

at-deployments-of-this-search =
    .en = In a sample of { $rows } deployments of this search, decode steps alone are { $low } to { $high } of the time per token, the throughput is { $least } to { $most } of its bound, and free memory falls with every doubling of the requests.
    .zh = 从本次搜索中抽取 { $rows } 个部署，逐一作完整计算来核对上述界限：解码步占每 token 时间的 { $low }–{ $high }，吞吐为其上界的 { $least }–{ $most }；并发每翻一倍，显存余量都下降。

here-no-two-neighbours-on =
    .en = Here no two neighbours on a front are on the same cards, overlap and are told apart.
    .zh = 此处前沿上没有卡相同、区间重叠而又分得出快慢的相邻部署。

deployment =
    .en = { $cards } ({ $plan })
    .zh = { $cards }（{ $plan }）

of-two-neighbours-on-front =
    .en = Of two neighbours on the front of { $goal }, { $slow } takes { $slow_pace } per token and { $fast } takes { $fast_pace }. The intervals overlap, but the latter is faster in { $share } of { $draws } draws.
    .zh = { $goal }的前沿上有两个相邻的部署：{ $slow }每 token { $slow_pace }，{ $fast }每 token { $fast_pace }。两个区间虽有重叠，{ $draws } 次抽样中仍有 { $share } 是后者更快。

goal =
    .en = goal for R1
    .zh = R1 的目标

lengths =
    .en = { $taken } tokens in, { $given } out
    .zh = 输入 { $taken }、输出 { $given } token

proposed =
    .en = answer
    .zh = 方案

tried =
    .en = tried
    .zh = 尝试数

nearest =
    .en = nearest
    .zh = 最接近的部署

what-it-misses-by =
    .en = what it misses by, central value
    .zh = 差多少（中心值）

nearest-change =
    .en = nearest change
    .zh = 最小改动

best-in-its-precision =
    .en = best in its precision
    .zh = 原精度下的最优

best-in-any-precision =
    .en = best in any precision
    .zh = 任意精度下的最优

best-in-published-weights =
    .en = best in the published weights, `{ $weights }`
    .zh = 官方权重 `{ $weights }` 下的最优

what-changes =
    .en = what changes
    .zh = 改动

spare-per-card =
    .en = spare per card
    .zh = 每卡余量
