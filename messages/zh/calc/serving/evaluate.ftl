### Where the closed form of a steady state is not held by a simulation, and by which mechanism.

ranks-that-share-experts-spend = 同一 EP 组的各 rank 有相当一部分时间在等其他 rank 的 prompt，而 prompt 或分成多块随机到来，或比回答用时还长，或几乎每步都有
prompts-come-at-random-to = 在途请求很少，而 prompt 随机到来：平均值取决于哪些 prompt 恰好相遇
ranks-hold-back-prompts-of = 各 rank 推迟处理分成多块或比回答用时还长的 prompt，或推迟处理的 prompt 占去大部分时间
ranks-let-in-requests-together = 各 rank 同时放行请求（balance），闭式解未计
prompts-at-random-take-most = prompt 随机到来，且占用副本的大部分时间：排队人数因而起伏很大
requests-are-dealt-to-replicas = 请求轮流分给各副本，且大部分时间在等 prompt，结果取决于哪些 prompt 同时到达
front-end-is-near-its = API 前端接近速率上限
requests-of-one-length = 各回答长度相同，请求会渐渐同步
