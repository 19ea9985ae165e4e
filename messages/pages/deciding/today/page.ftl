### The documents' cards with models of today, plan by plan.

demand =
    .en = users × tokens
    .zh = 用户数 × token 数

as-written =
    .en = as written, ms per token, stalls by prefill included
    .zh = 照文档部署，每 token 毫秒（含预填充造成的停顿）

as-written-short =
    .en = as written
    .zh = 照文档

does-not-run =
    .en = does not run
    .zh = 无法运行

r1-there =
    .en = R1 on these cards today, ms per token (interval)
    .zh = 同样的卡今天跑 R1，每 token 毫秒

holds-only =
    .en = fits { $held } only
    .zh = 只放得下 { $held }

holds-none =
    .en = does not fit
    .zh = 放不下

runs-best =
    .en = fastest model of today, and so the cheapest
    .zh = 今天的模型中最快、因而也最省的

ms-per-token =
    .en = ms per token (interval)
    .zh = 每 token 毫秒（区间）

usd-per-million =
    .en = USD per million output tokens (interval)
    .zh = 每百万输出 token 美元（区间）

times-r1 =
    .en = tokens per USD, as a multiple of R1's (on the same cards: their ratio of speeds)
    .zh = 同样成本产出的 token 是 R1 的几倍（卡相同，即速度之比）

most-users =
    .en = most users within { $limit } (median), in formats chosen for this row's users
    .zh = 中位数 { $limit } 内用户最多的模型与用户数（格式按本行用户数选定）

users-of =
    .en = { $model } in `{ $precision }`: { $users } (R1 in `{ $narrower }`: { $reference })
    .zh = { $model }（`{ $precision }`）：{ $users }（R1 用 `{ $narrower }`：{ $reference }）

runs-as =
    .en = runs as
    .zh = 实际运行精度

published-as =
    .en = published as
    .zh = 官方权重精度

users-within =
    .en = users within { $limit } (median)
    .zh = 中位数 { $limit } 内用户数

tokens-within =
    .en = token/s with that many users
    .zh = 此时 token/s

plan-of =
    .en = { $plan }: { $cards }, { $users } { $users ->
        [one] user
       *[other] users
    } of { $tokens } tokens
    .zh = { $plan }：{ $cards }，{ $users } 个用户，每个 { $tokens } token

fits-count =
    .en = max { $held }
    .zh = 限 { $held }

formats-on =
    .en = { $card }: formats and the releases with their kernels
    .zh = { $card }：各精度，以及带有相应算子的引擎版本

releases-with-kernels =
    .en = releases with its kernels
    .zh = 带有算子的版本

known-change =
    .en = worst change of a score from the published weights, points (−: lower)
    .zh = 与官方权重相比，各评测中最差的分差（分，负为变差）

most-that-fit =
    .en = requests that fit, in the layout that holds most (equal replicas on all cards)
    .zh = 放得下的请求数（取最多的切分；全部卡组成相同的副本）
