### One step laid out in time: one batch, two micro-batches in turn, and two streams.

requests-per-card =
    .en = { $ranks } × { $card }, { $requests } requests per card
    .zh = { $ranks } × { $card }，每卡 { $requests } 个请求

step-in-three-ways =
    .en = A step in one batch, two micro-batches and two streams
    .zh = 整批、双 micro-batch 与两路：同一步的三种排法

how-steps-are-laid-out =
    .en = One batch computes and communicates in turn, { $whole }. Two micro-batches compute { $again } ms longer, because each reads the weights, communicate { $resent } ms longer, because each pays the latencies, and hide { $hidden } ms: { $split }. In two streams each half goes through all its parts: { $streams }.
    .zh = 整批时计算与通信先后进行，{ $whole }。双 micro-batch 各读一遍权重、各承担一次通信延迟，计算多 { $again } ms，通信多 { $resent } ms，掩盖 { $hidden } ms：{ $split }。两路各走完自己的全部步骤：{ $streams }。

one-batch =
    .en = one batch
    .zh = 整批

two-micro-batches-in-turn =
    .en = two micro-batches, in turn
    .zh = 双 micro-batch，轮流

what-halves-cost =
    .en = +{ $again } ms computation, +{ $resent } ms communication, { $saved } hidden
    .zh = 计算多 { $again } ms，通信多 { $resent } ms；{ $saved } 的通信被掩盖

two-streams-half-each =
    .en = two streams, a half each
    .zh = 两路，各一个 micro-batch

attention-and-rest-on-card =
    .en = attention and the rest, on the card
    .zh = 卡上：注意力等

experts-on-card =
    .en = experts, on the card
    .zh = 卡上：专家

links-dispatch-and-combine =
    .en = links: dispatch and combine
    .zh = 链路：分发与合并

between-steps =
    .en = between steps
    .zh = 步间空隙
