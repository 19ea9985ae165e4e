### Two cards with experts on the host beside eight cards: throughput per card, and its price.

# number: the cards of the systems that are compared
two-cards-and-host-measured = 2 cards and host, measured
# number: the cards of the systems that are compared
eight-cards-measured = 8 cards, measured
# number: the cards of the systems that are compared
eight-cards-of-s2-measured = 8 cards of S2, measured
# number: the cards of the systems that are compared
two-cards-and-host-measured-2 = 2 cards and host, measured
# number: the cards of the systems that are compared
eight-cards-measured-2 = 8 cards, measured
# number: the cards of the systems that are compared
eight-cards-of-s2-measured-2 = 8 cards of S2, measured
# number: the cards of the systems that are compared
largest-throughput-printed-for-eight = { " " }largest throughput printed for 8 cards
requests-token-s-per-card = requests (token/s per card)
# number: the requests that the document's rates are of
as-printed = 1, as printed
# number: the intervals of all answers
at = $r$ at $q$ = { $share } (80%)
for-orientation-server-with-eight = For orientation: a server with eight cards at { $node } yuan ({ $of_node }, { $date }) and a card at { $card } yuan ({ $of_card }, { $date_of_card }; which 910B is not said) leave { $server } cards for a server without them.
predicted-curve = { $curve }, predicted
