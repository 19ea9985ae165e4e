### Buy: for so many users within a limit, how many of which card.

more-than =
    .en = more than { $cards } cards
    .zh = { $cards } 张卡不够
