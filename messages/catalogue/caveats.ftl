### What an answer says of what it rests on: cards that are only announced, models that are not derived in full.

only-announced =
    .en = '{ $device }' is only announced ({ $date }): its numbers are promises of its maker or assumptions, none of its speed was measured, and the card that is sold may differ.
    .zh = '{ $device }' 目前只有厂商公布（{ $date }），尚未上市：各项数值为厂商承诺或假设，性能均无实测，上市产品可能与此不同。

marked =
    .en = { $device } (announced)
    .zh = { $device }（未上市）

not-derived =
    .en = { $name } is not derived in full. { $missing }
    .zh = { $name } 的架构尚未全部推导：{ $missing }

nearest-release =
    .en = { $asked } is not in the catalogue: flags and behaviour are those of { $known }, the nearest release that is.
    .zh = { $asked } 未收录：参数与行为取最接近的已收录版本 { $known }。

kernels =
    .en = { $words }.
    .zh = { $words }。
