### Which card for which use: what the documents advise, beside pace and cost of each.

h20-online =
    .en = { $users } users on sixteen cards, time per token: H20 (`{ $h20 }`) { $h20_pace }, 910B2 (`{ $b2 }`) { $b2_pace }. Within { $limit }: { $h20_users } users on H20, { $b2_users } on 910B2.
    .zh = 十六张卡、{ $users } 个用户：H20（`{ $h20 }`）每 token { $h20_pace }，910B2（`{ $b2 }`）{ $b2_pace }。{ $limit } 以内：H20 { $h20_users } 个用户，910B2 { $b2_users } 个。

ascend-batch =
    .en = At purchase prices, at the number of users that yields the most tokens per second, owned and always in use, a million tokens cost { $h20 } on { $h20_cards } H20 ({ $h20_users } users), { $b2 } on { $b2_cards } 910B2 ({ $b2_users }), both in eight bits, and { $b2_four } on { $four_cards } 910B2 in `{ $four_bit }` ({ $four_users }).
    .zh = 按硬件报价推算（自有、全时使用、用户数取产出最高时），每百万 token：8 比特 H20 { $h20 }（{ $h20_cards } 张，{ $h20_users } 个用户），8 比特 910B2 { $b2 }（{ $b2_cards } 张，{ $b2_users } 个），`{ $four_bit }` 的 910B2 { $b2_four }（{ $four_cards } 张，{ $four_users } 个）。

h20-premium =
    .en = At purchase prices, a server costs { $h20 } { $currency } per hour with H20 and { $b2 } with 910B2. At full load, an H20 yields { $times } times as many tokens.
    .zh = 按硬件报价推算，一台服务器每小时：H20 { $h20 } { $currency }，910B2 { $b2 }。满载时每张 H20 的产出是 910B2 的 { $times } 倍。

against-a100 =
    .en = In `{ $precision }`, { $users } users on sixteen cards: { $pace } of the A100's speed; at full load, { $rate } of its throughput.
    .zh = 同为 `{ $precision }`、十六张卡、{ $users } 个用户：速度为 A100 的 { $pace }；满载时吞吐为 A100 的 { $rate }。

plan-of-size =
    .en = `{ $precision }`, one replica per server: { $users } users, { $rate } token/s, { $pace } per token.
    .zh = `{ $precision }`，每台一个副本：{ $users } 个用户，{ $rate } token/s，每 token { $pace }。

plan-of-size-split =
    .en = { $whole } Split { $both } in the same layout, they yield { $gain } times as much; pools that each have their best layout yield more ([](#separation)).
    .zh = { $whole }切分不变、拆成 { $both } 时，产出为不拆时的 { $gain } 倍；两池各取最佳切分则更高（[](#separation)）。

hybrid-for-few =
    .en = For the same money, hosts included, two 910B4 with a host yield { $alone } times the tokens of eight 910B2 for one request, { $most } times with as many requests as each can take ([](#cost-s3)). Only the total price is lower.
    .zh = 把主机计入成本，同样的钱，两张 910B4 加主机的单请求产出为八张 910B2 的 { $alone } 倍，最大吞吐为 { $most } 倍（[](#cost-s3)）。少的只是总投入。

hybrid-for-long =
    .en = Time to first token for { $tokens } tokens: { $waited } measured, { $predicted } predicted for eight 910B2.
    .zh = { $tokens } token 的首 token 延迟：两张 910B4 实测 { $waited }，八张 910B2 预测 { $predicted }。

eight-for-many =
    .en = Eight 910B2 in `{ $precision }`, { $users } users, prompts of { $tokens }: first token after { $first }.
    .zh = 八张 910B2（`{ $precision }`）、{ $users } 个用户、输入 { $tokens } token：首 token 延迟 { $first }。
