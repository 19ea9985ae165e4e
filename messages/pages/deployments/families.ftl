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

rate-end =
    .en = { $rate } ({ $end })
    .zh = { $rate } 个请求（{ $end }）

prefill-pool-finishes-requests-per =
    .en = The prefill pool finishes { $each } requests per second and the decode pool { $each2 }: { $slower ->
        [yes] prefill
       *[no] decode
    } decides, and the pair gives **{ $together }** ({ $reach }){ $short ->
        [yes] { " " }if memory sufficed
       *[no] { "" }
    }
    .zh = 预填充池每秒完成 { $each }，解码池每秒 { $each2 }：瓶颈在{ $slower ->
        [yes] 预填充
       *[no] 解码
    }，两池合计{ $short ->
        [yes] （假设显存足够）
       *[no] { "" }
    }输出 **{ $together }**（{ $reach }）

document-prints =
    .en = { $text2 }; the document prints { $text }
    .zh = { $text2 }；文档写 { $text }

for-requests-of-and-tokens =
    .en = For requests of { $lengths } and { $lengths2 } tokens the pools are in balance with { $cards } of the { $cards2 } cards for prefill, which gives { $best }; in whole groups of ranks, { $groups } and { $groups2 } are best. The cache of a request is sent in { $sent }. { $users } users in a closed loop get { $around }, a first token after { $first } and then one every { $each }.
    .zh = 请求为 { $lengths } 与 { $lengths2 } token 时，{ $cards2 } 张卡中用 { $cards } 张做预填充，两池平衡，输出 { $best }；按整组 rank 分配，以 { $groups } 组与 { $groups2 } 组为最佳。一个请求的缓存传输用时 { $sent }。闭环中 { $users } 个用户合计得到 { $around }，首 token 延迟 { $first }，其后每 token { $each }。
