### Whether slices of quantised matrices hold whole blocks: engines refuse to load one that does not.

of-cuts-of-into-slices =
    .en = { $key } of { $size } cuts { $piece } { $whole } of '{ $of }' into slices of { $width }, which are not whole blocks of { $block } of '{ $stored }', so no engine loads it; the nearest that loads is { $instead }
    .zh = { $key } 为 { $size }，把 '{ $of }' 的 { $piece } { $whole } 切成 { $width } 宽，不是 '{ $stored }' 块宽 { $block } 的整数倍，没有引擎能加载；最近的可加载切分：{ $instead }

degree =
    .en = { $key } of { $degree }
    .zh = { $key } { $degree }

or =
    .en = { " " }or{ " " }
    .zh = 或{ " " }

on-other-cards =
    .en = on other cards
    .zh = 换卡
