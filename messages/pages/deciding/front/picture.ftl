### The front page's picture: time per token by card and model.

title =
    .en = Time per token by card and model
    .zh = 各卡、各模型的每 token 时间

# number: an interval by its share is its name
about =
    .en = Medians and 80% intervals on the fewest whole servers: { $listed }.
    .zh = 最少整机上的中位数与 80% 区间：{ $listed }。

one =
    .en = { $model } on { $cards } { $card } { $value } ms ({ $low }–{ $high })
    .zh = { $model }，{ $cards } 张 { $card }，{ $value } ms（{ $low }–{ $high }）

time-per-token =
    .en = time per token, ms (right: cards)
    .zh = 每 token 时间，ms（右侧为卡数）
