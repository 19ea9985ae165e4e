### The deployments of one scenario file side by side: a table, a picture, a pair of pools.

does-not-fit =
    { $fits ->
        [yes] 装得下
       *[no] **装不下**
    }，{ $size }
documented-derived = 文档 / 推导
# number: the intervals of all answers
derived = { $name }，推导（80% 区间）
prefill-pool-finishes-requests-per =
    预填充池每秒完成 { $prefill } 个请求，解码池每秒 { $decode } 个：瓶颈在{ $binds ->
        [prefill] 预填充
        [transfer] 两池之间的传输
       *[other] 解码
    }
document-prints = { $text2 }；文档写 { $text }
for-requests-of-and-tokens = 请求为 { $lengths } 与 { $lengths2 } token 时，{ $cards2 } 张卡中用 { $cards } 张做预填充，两池平衡，输出 { $best }；按整组 rank 分配，以 { $groups } 组与 { $groups2 } 组为最佳。一个请求的缓存传输用时 { $sent }。
