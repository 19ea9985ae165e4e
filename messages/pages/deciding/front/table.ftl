### The front page's table: model by card.

none-starts =
    .en = more than { $most } cards
    .zh = 超过 { $most } 张卡
