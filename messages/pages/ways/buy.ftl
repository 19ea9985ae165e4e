### Buy: for so many users within a limit, how many of which card.

users =
    .en = { $users } users
    .zh = { $users } 个用户

more-than =
    .en = more than { $cards } cards
    .zh = { $cards } 张卡不够
