### What the documents' plans come to: which run, what runs instead, where an advantage ends.

users-at-exactly-any-hardware =
    .en = { $users } users at exactly { $limit }, any hardware
    .zh = { $users } 个用户、恰好每 { $limit } 一个 token，任何硬件

# number: the cards of the plan
users-on-cards-of-document =
    .en = { $users } users, its 32 H20 as they can run
    .zh = { $users } 个用户，32 张 H20 的可运行方案

goal-of-s1-for-users =
    .en = the goal of S1 for { $users } users
    .zh = S1 为 { $users } 个用户定的目标

yes =
    .en = yes
    .zh = 可以

no =
    .en = no
    .zh = 不能

as-written =
    .en = as written
    .zh = 按所写

nothing-found =
    .en = nothing found
    .zh = 未找到

runs-as-written =
    .en = runs as written
    .zh = 照所写能否运行

throughput-printed =
    .en = throughput printed
    .zh = 文档的吞吐

nearest-change-that-runs =
    .en = nearest change that runs
    .zh = 能运行的最小改动

gives-tpot =
    .en = throughput; TPOT
    .zh = 吞吐；TPOT

best-of-search =
    .en = best of a search
    .zh = 搜索所得最优

command-of-each-that-search =
    .en = The command of each that a search found
    .zh = 搜索所得各方案的命令

every-other-plan =
    .en = Every other deployment
    .zh = 其余部署

recommended-does-not-run =
    .en = { $plan } ({ $measured ->
            [yes] measured
           *[no] recommended
        }, section { $section }) **does not run: { $why }**. { $instead }
    .zh = { $plan }（{ $section } 节{ $measured ->
            [yes] 实测
           *[no] 推荐
        }）**无法运行：{ $why }**。{ $instead }

recommended-runs =
    .en = { $plan } ({ $measured ->
            [yes] measured
           *[no] recommended
        }, section { $section }) **runs as written**, with { $spare } a card to spare.
    .zh = { $plan }（{ $section } 节{ $measured ->
            [yes] 实测
           *[no] 推荐
        }）**照所写可以运行**，每卡余 { $spare }。

each-card-is-short =
    .en = each card is { $short } short
    .zh = 每卡缺 { $short }

nothing-found-sentence =
    .en = No change was found that runs.
    .zh = 未找到能运行的改动。

best-of-its-cards =
    .en = The fastest layout of the same cards in FP8, { $layout }, gives { $users } users { $rate } in a steady state with prompts, { $prompt } tokens in and { $answer } out.
    .zh = 同样的卡改用 FP8、{ $layout }（最快的切分），{ $users } 个用户合计 { $rate }（稳态，计入预填充：输入 { $prompt }、输出 { $answer } token）。

change-with-spare =
    .en = { $change }; { $spare } per device to spare
    .zh = { $change }；每卡余 { $spare }

it-runs-with-change =
    .en = It runs with { $change }{ $given ->
            [yes] : { $rate } for { $users } users, a token every { $pace }
           *[no] {""}
        }{ $compared ->
            [yes] {" "}(printed: { $printed })
           *[no] {""}
        }.
    .zh = 可运行的改动：{ $change }{ $given ->
            [yes] ，{ $users } 个用户时吞吐 { $rate }，每 token { $pace }
           *[no] {""}
        }{ $compared ->
            [yes] （文档：{ $printed }）
           *[no] {""}
        }。

of-all-deployments =
    .en = Of all { $plans } deployments that it describes, { $loads ->
            [0] none loads
            [one] one loads
           *[other] { $loads } load
        } as written{ $variants ->
            [0] {""}
           *[other] ; of { $variants } variants that it only supposes, { $supposed } would
        }.
    .zh = 文档描述的全部 { $plans } 个部署中，照所写能加载的有 { $loads } 个{ $variants ->
            [0] {""}
           *[other] ；另有 { $variants } 个仅作假设的变体，其中 { $supposed } 个能加载
        }。
