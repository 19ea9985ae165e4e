### The deployments of one scenario file side by side: a table, a picture, a pair of pools.

does-not-fit =
    .en = { $fits ->
        [yes] fits
       *[no] **does not fit**
    }, { $size }
    .zh = { $fits ->
        [yes] 装得下
       *[no] **装不下**
    }，{ $size }

documented-derived =
    .en = documented / derived
    .zh = 文档 / 推导

# number: the intervals of all answers
derived =
    .en = { $name }, derived (80%)
    .zh = { $name }，推导（80% 区间）

prefill-pool-finishes-requests-per =
    .en = The prefill pool finishes { $prefill } requests per second and the decode pool { $decode }: { $binds ->
        [transfer] the transfer between them
       *[other] { $binds }
    } decides
    .zh = 预填充池每秒完成 { $prefill } 个请求，解码池每秒 { $decode } 个：瓶颈在{ $binds ->
        [prefill] 预填充
        [transfer] 两池之间的传输
       *[other] 解码
    }

document-prints =
    .en = { $text2 }; the document prints { $text }
    .zh = { $text2 }；文档写 { $text }

for-requests-of-and-tokens =
    .en = For requests of { $lengths } and { $lengths2 } tokens the pools are in balance with { $cards } of the { $cards2 } cards for prefill, which gives { $best }; in whole groups of ranks, { $groups } and { $groups2 } are best. The cache of a request is sent in { $sent }.
    .zh = 请求为 { $lengths } 与 { $lengths2 } token 时，{ $cards2 } 张卡中用 { $cards } 张做预填充，两池平衡，输出 { $best }；按整组 rank 分配，以 { $groups } 组与 { $groups2 } 组为最佳。一个请求的缓存传输用时 { $sent }。
