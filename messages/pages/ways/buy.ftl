### Buy: for so many users within a limit, how many of which card.

more-than =
    .en = more than { $cards }
    .zh = { $cards }不够
