### Why a goal has no answer.

no-release-known =
    .zh = 尚无已知版本能在 '{ $device }' 上运行（其文件未写 'architecture'），应补上该项，或用 --any-engine

no-layout =
    .zh = 所允许的卡上没有一种切分或一对池既装得下模型与请求、又能整除、又能以某种精度加载，应放宽 'cards'、'space' 或 'precisions'

# number: layouts
all-fall-behind =
    .zh = 装得下模型的 { $count } 种切分吞吐都跟不上请求，应放宽 'cards'，或减少 'demand' 中的请求
