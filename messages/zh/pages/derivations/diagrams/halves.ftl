### One step laid out in time: one batch, two micro-batches in turn, and two streams.

requests-per-card = { $ranks } × { $card }，每卡 { $requests } 个请求
step-in-three-ways = 整批、双 micro-batch 与两路：同一步的三种排法
how-steps-are-laid-out = 整批时计算与通信先后进行，{ $whole }。双 micro-batch 各读一遍权重、各承担一次通信延迟，计算多 { $again } ms，通信多 { $resent } ms，掩盖 { $hidden } ms：{ $split }。两路各走完自己的全部步骤：{ $streams }。
one-batch = 整批
two-micro-batches-in-turn = 双 micro-batch，轮流
what-halves-cost = 计算多 { $again } ms，通信多 { $resent } ms；{ $saved } 的通信被掩盖
two-streams-half-each = 两路，各一个 micro-batch
attention-and-rest-on-card = 卡上：注意力等
experts-on-card = 卡上：专家
links-dispatch-and-combine = 链路：分发与合并
between-steps = 步间空隙
