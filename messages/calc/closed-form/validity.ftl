### Where the closed form of a steady state is not held by a simulation, and by which mechanism.

ranks-that-share-experts-spend =
    .en = ranks that share experts spend most of the time on each other's prompts, which come at random or in nearly every step
    .zh = 同一 EP 组的各 rank 大部分时间在等其他 rank 的 prompt，而 prompt 或随机到来，或几乎每步都有

prompts-come-at-random-to =
    .en = prompts come at random to more ranks than there are requests in flight, and hold each other up
    .zh = prompt 随机到来，在途请求不多于 rank 数，且各 rank 的 prompt 互相等待

ranks-hold-back-prompts-of =
    .en = ranks hold back prompts of several chunks, or many prompts that come at random
    .zh = 各 rank 推迟处理分成多块的 prompt，或大量随机到来的 prompt

ranks-let-in-requests-together =
    .en = ranks admit requests together (balance), which the closed form leaves out
    .zh = 各 rank 同时放行请求（balance），闭式解未计

requests-are-dealt-to-replicas =
    .en = requests are assigned to replicas in turn and mostly wait for prompts, so all depends on which prompts coincide
    .zh = 请求轮流分给各副本，且大部分时间在等 prompt，结果取决于哪些 prompt 同时到达

front-end-is-near-its =
    .en = the front end is near its maximum rate
    .zh = API 前端接近速率上限
