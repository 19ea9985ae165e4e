### Precision and quantisation: which weights on which card, for how many users, and on what proof.

what-runs-on-by-which =
    .en = What runs on { $name }, by which engine and kernel
    .zh = { $name } 上能运行的精度、引擎与算子

precision-cards =
    .en = { $precision } · { $cards } cards
    .zh = { $precision } · { $cards } 卡

eight-bits-and-more =
    .en = 8 bits and more
    .zh = 8 比特及以上

four-bits-allowed =
    .en = 4 bits allowed
    .zh = 也可用 4 比特

plan-cards-pace =
    .en = `{ $plan }`<br>{ $cards } cards, { $pace }{ $mark }
    .zh = `{ $plan }`<br>{ $cards } 卡，{ $pace }{ $mark }

users-within =
    .en = users within { $limit } (median)
    .zh = 中位数 { $limit } 以内的用户数

token-s-of-card-then =
    .en = token/s per card at that load
    .zh = 此时单卡 token/s

every-card-and-precision-how =
    .en = Every card and precision: how many users within the limit
    .zh = 各卡各精度：限值以内的用户数

experts-read-and-multiply =
    .en = experts: read and multiply
    .zh = 专家：读取与相乘

dequantisation-through-l2 =
    .en = dequantisation through L2
    .zh = 经 L2 反量化

links =
    .en = links
    .zh = 通信

all-else-kernel-gaps-host =
    .en = all else: kernel gaps, host, MTP, others' prefill
    .zh = 其余：算子间隔、主机、MTP 与其他请求的预填充

time-per-token =
    .en = time per token
    .zh = 每 token 时间

ms-of-token =
    .en = ms per token, central values (below the medians)
    .zh = 每 token 毫秒，中心值（低于中位数）

score-of-better-one =
    .en = score of the better one
    .zh = 较好者的分数

points-apart =
    .en = points apart
    .zh = 相差（百分点）

different-problems =
    .en = different problems
    .zh = 题目不同

same-problems-independent-failures =
    .en = same problems, independent failures
    .zh = 题目相同，错题互不相关

same-problems-one-only-loses =
    .en = same problems, the worse model fails all that the better one fails, and more
    .zh = 题目相同，较差者的错题包含较好者的全部错题

benchmark-of-s2 =
    .en = benchmark of S2
    .zh = S2 的评测集

score-of-w4a16 =
    .en = score of w4a16, %
    .zh = w4a16 分数，%

over-w4a8-points =
    .en = its lead over w4a8, points
    .zh = 高出 w4a8，百分点

smallest-gap-it-can-show =
    .en = smallest gap it can show, points
    .zh = 能分辨的最小差距，百分点
