### Where the closed form of a steady state is not held by a simulation, and by which mechanism.

ranks-that-share-experts-spend =
    .en = ranks that share experts wait much of the time for each other's prompts, which come at random in several chunks, take longer than an answer, or are in nearly every step
    .zh = 同一 EP 组的各 rank 有相当一部分时间在等其他 rank 的 prompt，而 prompt 或分成多块随机到来，或比回答用时还长，或几乎每步都有

prompts-come-at-random-to =
    .en = few requests are in flight and prompts come at random: which of them meet decides the mean
    .zh = 在途请求很少，而 prompt 随机到来：平均值取决于哪些 prompt 恰好相遇

ranks-hold-back-prompts-of =
    .en = ranks hold back prompts that have several chunks or take longer than an answer, or prompts held back take most of the time
    .zh = 各 rank 推迟处理分成多块或比回答用时还长的 prompt，或推迟处理的 prompt 占去大部分时间

ranks-let-in-requests-together =
    .en = ranks admit requests together (balance), which the closed form leaves out
    .zh = 各 rank 同时放行请求（balance），闭式解未计

prompts-at-random-take-most =
    .en = prompts come at random and take most of a replica's time: how many wait then varies widely
    .zh = prompt 随机到来，且占用副本的大部分时间：排队人数因而起伏很大

requests-are-dealt-to-replicas =
    .en = requests are assigned to replicas in turn and mostly wait for prompts, so all depends on which prompts coincide
    .zh = 请求轮流分给各副本，且大部分时间在等 prompt，结果取决于哪些 prompt 同时到达

front-end-is-near-its =
    .en = the front end is near its maximum rate
    .zh = API 前端接近速率上限

requests-of-one-length =
    .en = all answers have one length, so that requests fall into step
    .zh = 各回答长度相同，请求会渐渐同步
