### Of what a computed number is: a deployment with its users and format, or a source.

computed-for =
    .en = Computed for { $plan }
    .zh = 按 { $plan }计算

computed-as-if =
    .en = Computed for { $plan }, as if memory sufficed
    .zh = 按 { $plan }、假定显存足够计算

from-shapes =
    .en = From the model's published shapes
    .zh = 按模型公开的结构参数计算

from-hardware =
    .en = From the data of the hardware
    .zh = 按硬件参数计算

recomputed =
    .en = Recomputed with sourced inputs
    .zh = 以有出处的输入重新计算

on-own-inputs =
    .en = By correct arithmetic on the document's own inputs
    .zh = 按文档自己的输入、以正确的算法计算

measured =
    .en = By the measured rows that the document prints
    .zh = 按文档所列实测数据

at-prices =
    .en = At the prices collected in this book
    .zh = 按本书收集的价格

searched =
    .en = By a search over all layouts
    .zh = 遍历全部切分方式搜索

source-has =
    .en = By “{ $source }”
    .zh = 据“{ $source }”

plan =
    .en = { $cards }×{ $card } ({ $layout }, { $format }, { $users } { $users ->
        [one] user
       *[other] users
    })
    .zh = { $cards }×{ $card }（{ $layout }，{ $format }，{ $users } 个用户）

short-of-memory =
    .en = a card needs { $needed } and may use { $usable }
    .zh = 单卡需要 { $needed }，可用 { $usable }
