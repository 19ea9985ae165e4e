### What the documents' plans come to: which run, what runs instead, where an advantage ends.

users-at-exactly-any-hardware = { $users } 个用户、恰好每 { $limit } 一个 token，任何硬件
# number: the cards of the plan
users-on-cards-of-document = { $users } 个用户，32 张 H20 的可运行方案
goal-of-s1-for-users = S1 为 { $users } 个用户定的目标
yes = 可以
no = 不能
as-written = 按所写
nothing-found = 未找到
runs-as-written = 照所写能否运行
throughput-printed = 文档的吞吐
nearest-change-that-runs = 能运行的最小改动
gives-tpot = 吞吐；TPOT
best-of-search = 搜索所得最优
command-of-each-that-search = 搜索所得各方案的命令
every-other-plan = 其余部署
recommended-does-not-run =
    { $plan }（{ $section } 节{ $measured ->
        [yes] 实测
       *[no] 推荐
    }）**无法运行：{ $why }**。{ $instead }
recommended-runs =
    { $plan }（{ $section } 节{ $measured ->
        [yes] 实测
       *[no] 推荐
    }）**照所写可以运行**，每卡余 { $spare }。
each-card-is-short = 每卡缺 { $short }
nothing-found-sentence = 未找到能运行的改动。
best-of-its-cards = 同样的卡改用 FP8、{ $layout }（最快的切分），{ $users } 个用户合计 { $rate }（稳态，计入预填充：输入 { $prompt }、输出 { $answer } token）。
change-with-spare = { $change }；每卡余 { $spare }
it-runs-with-change =
    可运行的改动：{ $change }{ $given ->
        [yes] ，{ $users } 个用户时吞吐 { $rate }，每 token { $pace }
       *[no] { "" }
    }{ $compared ->
        [yes] （文档：{ $printed }）
       *[no] { "" }
    }。
of-all-deployments =
    文档描述的全部 { $plans } 个部署中，照所写能加载的有 { $loads } 个{ $variants ->
        [0] { "" }
       *[other] ；另有 { $variants } 个仅作假设的变体，其中 { $supposed } 个能加载
    }。
