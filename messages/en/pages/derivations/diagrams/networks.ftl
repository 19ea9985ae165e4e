### What lies between cards: a full mesh, a switch, and two servers with their ports, to scale.

links-between-cards-to-scale = Links between cards, to scale
what-links-are = In a full mesh of { $cards } { $mesh } every pair has { $pair }, a card { $mesh_card } in all. Behind a switch a { $switched } has { $switched_card } to whichever card. Between two servers a card has one port of { $mesh_port } and { $switched_port }.
rate-of-pair = { $rate } a pair
links-of-card = { $links } links: { $rate } a card
rate-of-card = { $rate } a card,
to-one-as-to-all = to one card as to all
two-servers = two servers
network-of-switched = network, a port per card: { $rate }, 1/{ $share } of the inside
network-of-mesh = { $name }: { $rate }, 1/{ $share }
