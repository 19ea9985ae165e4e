### Why a goal has no answer.

no-pool-holds =
    .en = no { $pool ->
        [prefill] prefill
       *[decode] decode
    } pool holds the model and its requests, expected more cards
    .zh = 没有{ $pool ->
        [prefill] 预填充
       *[decode] 解码
    }池装得下模型及其请求，应增加卡数

a-request =
    .en = a request
    .zh = 一个请求

no-pair-holds =
    .en = no pair of pools on { $cards } cards holds { $asked }, expected more cards, less demand or space.pools=one
    .zh = { $cards } 张卡上没有一对池能容纳 { $asked }，应增加卡数、降低需求或设 space.pools=one

no-release-known =
    .en = no release is known to run on '{ $device }', whose file states no 'architecture', expected one there, or --any-engine
    .zh = 尚无已知版本能在 '{ $device }' 上运行（其文件未写 'architecture'），应补上该项，或用 --any-engine

no-layout =
    .en = no layout of the cards that are allowed holds the model, divides it and is loaded in one of the precisions, expected more of 'cards', 'space' or 'precisions'
    .zh = 所允许的卡上没有一种切分既装得下模型、又能整除、又能以某种精度加载，应放宽 'cards'、'space' 或 'precisions'

# number: layouts
all-fall-behind =
    .en = { $count ->
        [one] the one layout cannot keep up
       *[other] all { $count } layouts that hold the model cannot keep up
    } with what is asked, expected more of 'cards', or fewer requests in 'demand'
    .zh = 装得下模型的 { $count } 种切分吞吐都跟不上请求，应放宽 'cards'，或减少 'demand' 中的请求
