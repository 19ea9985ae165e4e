### Experts on three levels, and how wide the way from each of them is, to scale.

memory-of-cards = memory of the cards
memory-of-host = memory of the host
storage = storage
experts-on-three-levels = Experts on three levels
what-levels-are = Bandwidth, share of the experts, and time until one expert is there, from each level: { $listed }.
matrix-unit-of-card = matrix unit of a card
rate-of-card = { $rate } a card
one-expert = one expert: { $time }
of-experts =
    { $part } of the experts{ $stored ->
        [yes] , { $size }
       *[no] { "" }
    }
how-ways-are-drawn = Ways as wide as they are fast; the bar in each box is its share of the experts.
level = { $name } { $rate }, { $share }, { $time }
