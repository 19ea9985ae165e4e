### What lies between cards: a full mesh, a switch, and two servers with their ports, to scale.

links-between-cards-to-scale = 卡间链路（线宽按带宽）
what-links-are = { $cards } 张{ $mesh } 全互联，每对 { $pair }，单卡合计 { $mesh_card }。经交换芯片，{ $switched } 到任意一张卡都有 { $switched_card }。两台服务器之间，每卡一个网口，分别为 { $mesh_port } 与 { $switched_port }。
rate-of-pair = 每对 { $rate }
links-of-card = { $links } 条链路，单卡 { $rate }
rate-of-card = 单卡 { $rate }，
to-one-as-to-all = 对一张卡与对全部卡相同
two-servers = 两台服务器
network-of-switched = 网络，每卡一个网口：{ $rate }，为节点内的 1/{ $share }
network-of-mesh = { $name }：{ $rate }，1/{ $share }
