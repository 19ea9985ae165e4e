### Two cards with experts on the host beside eight cards: throughput per card, and its price.

# number: the cards of the systems that are compared
two-cards-and-host-measured = 两卡加主机，实测
# number: the cards of the systems that are compared
eight-cards-measured = 八卡，实测
# number: the cards of the systems that are compared
eight-cards-of-s2-measured = S2 八卡，实测
# number: the cards of the systems that are compared
two-cards-and-host-measured-2 = 两卡加主机（实测）
# number: the cards of the systems that are compared
eight-cards-measured-2 = 八卡（实测）
# number: the cards of the systems that are compared
eight-cards-of-s2-measured-2 = S2 的八卡（实测）
# number: the cards of the systems that are compared
largest-throughput-printed-for-eight = { " " }文档所写八卡最大吞吐
requests-token-s-per-card = 请求数（每卡 token/s）
# number: the requests that the document's rates are of
as-printed = 1（文档数值）
# number: the intervals of all answers
at = $q$ = { $share } 时的 $r$（80% 区间）
for-orientation-server-with-eight = 作为参照：八卡整机 { $node } 元（{ $of_node }，{ $date }），单卡 { $card } 元（{ $of_card }，{ $date_of_card }，未说明 910B 的具体型号），则不含卡的服务器合 { $server } 张卡。
predicted-curve = { $curve }（预测）
