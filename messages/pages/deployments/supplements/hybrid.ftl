### Two cards with experts on the host beside eight cards: throughput per card, and its price.

# number: the cards of the systems that are compared
two-cards-and-host-measured =
    .en = 2 cards and host, measured
    .zh = 两卡加主机，实测

# number: the cards of the systems that are compared
eight-cards-measured =
    .en = 8 cards, measured
    .zh = 八卡，实测

# number: the cards of the systems that are compared
eight-cards-of-s2-measured =
    .en = 8 cards of S2, measured
    .zh = S2 八卡，实测

# number: the cards of the systems that are compared
two-cards-and-host-measured-2 =
    .en = 2 cards and host, measured
    .zh = 两卡加主机（实测）

# number: the cards of the systems that are compared
eight-cards-measured-2 =
    .en = 8 cards, measured
    .zh = 八卡（实测）

# number: the cards of the systems that are compared
eight-cards-of-s2-measured-2 =
    .en = 8 cards of S2, measured
    .zh = S2 的八卡（实测）

# number: the cards of the systems that are compared
largest-throughput-printed-for-eight =
    .en = { " " }largest throughput printed for 8 cards
    .zh = { " " }文档所写八卡最大吞吐

requests-token-s-per-card =
    .en = requests (token/s per card)
    .zh = 请求数（每卡 token/s）

# number: the requests that the document's rates are of
as-printed =
    .en = 1, as printed
    .zh = 1（文档数值）

# number: the intervals of all answers
at =
    .en = $r$ at $q$ = { $share } (80%)
    .zh = $q$ = { $share } 时的 $r$（80% 区间）

for-orientation-server-with-eight =
    .en = For orientation: a server with eight cards at { $node } yuan ({ $of_node }, { $date }) and a card at { $card } yuan ({ $of_card }, { $date_of_card }; which 910B is not said) leave { $server } cards for a server without them.
    .zh = 作为参照：八卡整机 { $node } 元（{ $of_node }，{ $date }），单卡 { $card } 元（{ $of_card }，{ $date_of_card }，未说明 910B 的具体型号），则不含卡的服务器合 { $server } 张卡。

predicted-curve =
    .en = { $curve }, predicted
    .zh = { $curve }（预测）
