### What would run instead of a deployment that does not, as the runtime found it by trying.

its-own-precision =
    .en = its own precision
    .zh = 原有精度

any-precision =
    .en = any precision
    .zh = 任意精度

as-it-is =
    .en = as it is
    .zh = 不变

best-in =
    .en = best in
    .zh = 最优方案

spare =
    .en = spare
    .zh = 余量

cards-instead-of =
    .en = { $devices } cards instead of { $devices_before }
    .zh = 卡数由 { $devices_before } 改为 { $devices }

cut =
    .en = layout { $new }
    .zh = 切分 { $new }

redundant-experts =
    .en = { $spares } redundant experts
    .zh = { $spares } 个冗余专家

requests-at-once-instead-of =
    .en = { $after } requests at once instead of { $before }
    .zh = 并发请求由 { $before } 减为 { $after }

context-of-tokens-instead-of =
    .en = context of { $after } tokens instead of { $before }
    .zh = 上下文由 { $before } 缩短为 { $after } token

prompt-chunks-of-tokens-instead =
    .en = prompt chunks of { $after } tokens instead of { $before }
    .zh = 预填充分块由 { $before } 改为 { $after } token

filled-with-all-requests-that =
    .en = Filled with all the { $most } requests that fit, it would give **{ $rate }** ({ $reach }), a token every { $pace } to each.
    .zh = 若把能放下的 { $most } 个请求全部放满，可得 **{ $rate }**（{ $reach }），每个请求每 { $pace }得到一个 token。
