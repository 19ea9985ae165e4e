### What a card costs by the time, by way of having it; a number only where somebody printed one.

# number: an example
unpriced =
    .zh = 没有找到 '{ $device }' 的卡时价（{ $ownership ->
        [own] 自有
        [rent-always] 长租
       *[rent-by-hour] 按小时租
    }）：请用 --price 给出，例如 --price '{ $example }'，或写入价格文件（--prices）。
