### What binds a plan as it can run, beside what its document says that does.

what-binds-plan-c =
    .en = Plan C in FP8, TP8×PP4, { $users } users: computing their tokens uses { $reached } of the peak, and the weights { $held } of the memory. Experts take { $experts } of a step of { $step }, links { $sent }. Nothing is fetched, because all experts are on the cards.
    .zh = 方案 C 改用 FP8、TP8×PP4，{ $users } 个用户：计算这些 token 只用到峰值的 { $reached }；权重占显存的 { $held }。一步 { $step } 中，专家占 { $experts }，通信占 { $sent }；专家全在卡上，无需从存储加载。
