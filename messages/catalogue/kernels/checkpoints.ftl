### Which published checkpoint a deployment starts with.

either =
    .en = { $one } or { $other }
    .zh = { $one } 或 { $other }

preview =
    .en = { $one }, the preview, whose own layer drafts; that of the official { $other } does not
    .zh = { $one }（预览版，其 MTP 层可起草；正式版 { $other } 的不可）

of-sister =
    .en = { $one }, weights of { $of }, which has the same shapes
    .zh = { $one }（形状相同的 { $of } 的权重）
