### Why a goal has no answer.

no-release-known =
    .en = no release is known to run on '{ $device }', whose file states no 'architecture', expected one there, or --any-engine
    .zh = 尚无已知版本能在 '{ $device }' 上运行（其文件未写 'architecture'），应补上该项，或用 --any-engine

no-layout =
    .en = no layout or pair of pools on the cards that are allowed holds the model and its requests, divides the model and is loaded in one of the precisions, expected more of 'cards', 'space' or 'precisions'
    .zh = 所允许的卡上没有一种切分或一对池既装得下模型与请求、又能整除、又能以某种精度加载，应放宽 'cards'、'space' 或 'precisions'

# number: layouts
all-fall-behind =
    .en = { $count ->
        [one] the one layout cannot keep up
       *[other] all { $count } layouts that hold the model cannot keep up
    } with what is asked, expected more of 'cards', or fewer requests in 'demand'
    .zh = 装得下模型的 { $count } 种切分吞吐都跟不上请求，应放宽 'cards'，或减少 'demand' 中的请求
