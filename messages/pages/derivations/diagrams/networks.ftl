### What lies between cards: a full mesh, a switch, and two servers with their ports, to scale.

links-between-cards-to-scale =
    .en = Links between cards, to scale
    .zh = 卡间链路（线宽按带宽）

what-links-are =
    .en = In a full mesh of { $cards } { $mesh } every pair has { $pair }, a card { $mesh_card } in all. Behind a switch a { $switched } has { $switched_card } to whichever card. Between two servers a card has one port of { $mesh_port } and { $switched_port }.
    .zh = { $cards } 张{ $mesh } 全互联，每对 { $pair }，单卡合计 { $mesh_card }。经交换芯片，{ $switched } 到任意一张卡都有 { $switched_card }。两台服务器之间，每卡一个网口，分别为 { $mesh_port } 与 { $switched_port }。

rate-of-pair =
    .en = { $rate } a pair
    .zh = 每对 { $rate }

links-of-card =
    .en = { $links } links: { $rate } a card
    .zh = { $links } 条链路，单卡 { $rate }

rate-of-card =
    .en = { $rate } a card,
    .zh = 单卡 { $rate }，

to-one-as-to-all =
    .en = to one card as to all
    .zh = 对一张卡与对全部卡相同

two-servers =
    .en = two servers
    .zh = 两台服务器

network-of-switched =
    .en = network, a port per card: { $rate }, 1/{ $share } of the inside
    .zh = 网络，每卡一个网口：{ $rate }，为节点内的 1/{ $share }

network-of-mesh =
    .en = { $name }: { $rate }, 1/{ $share }
    .zh = { $name }：{ $rate }，1/{ $share }
