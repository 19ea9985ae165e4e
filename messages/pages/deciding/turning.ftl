### Where one plan stops being the better one, for documented deployments; choices between two.

one-draft =
    .en = one MTP token
    .zh = MTP 投机一个 token

none =
    .en = none
    .zh = 不投机

link-rate-for-tp16 =
    .en = link rate at which TP16 beats TP8×DP2
    .zh = 链路多快时 TP16 胜过 TP8×DP2

# number: of the deployment that is asked about
link-rate-for-tp16-in-w8a8 =
    .en = the same in W8A8 with EP16 (tokens reach experts by all-to-all), 32 requests
    .zh = 同上，W8A8 加 EP16（token 经 all-to-all 送往专家），32 个请求

network-latency-for-tp16 =
    .en = network latency up to which TP16 wins in that case
    .zh = 该情形下网络延迟多低时 TP16 胜出

hit-rate-for-fetched-experts =
    .en = hit rate from which a token takes no longer with experts fetched from the host than with all on cards, one request a replica
    .zh = 命中率多高时，从主机取专家的每 token 时间不长于专家全部在卡上（每副本一个请求）

fetched =
    .en = fetched
    .zh = 按需加载

all-on-cards =
    .en = all on cards
    .zh = 全部在卡上

# number: of the deployment that is asked about
hit-rate-with-more-requests =
    .en = the same, 20 requests a replica
    .zh = 同上，每副本 20 个请求

requests-for-eight-cards =
    .en = requests from which eight cards take fewer card-hours than two with experts on the host, the host not counted
    .zh = 从几个请求起八卡比两卡加主机更省卡时（不计主机）

# number: the cards of the systems that are compared
two-cards-and-host =
    .en = 2 cards and host
    .zh = 2 卡加主机

batch-for-wide-ep =
    .en = requests at once from which DP8 with EP8 yields more than TP8 on eight cards
    .zh = 八卡上并发多大时 DP8 加 EP8 的吞吐高于 TP8

dp8-with-ep8 =
    .en = DP8 with EP8
    .zh = DP8 加 EP8

requests-for-ep96 =
    .en = requests per card up to which EP96 yields more per card than EP32
    .zh = 每卡请求数在多少以内 EP96 的单卡吞吐高于 EP32

acceptance-for-draft =
    .en = acceptance at which an MTP token pays
    .zh = 接受率多高时投机划算

# number: of the deployment that is asked about
acceptance-for-draft-ep72 =
    .en = the same on 72 cards, EP72
    .zh = 同上，72 卡 EP72

context-for-w8a8-quarter =
    .en = context up to which W8A8 saves a quarter of the time per token of BF16
    .zh = 上下文多长以内，W8A8 的每 token 时间比 BF16 少四分之一

context-for-w8a8-tenth =
    .en = the same, a tenth
    .zh = 同上，少十分之一

less-than-that =
    .en = less than that
    .zh = 不到这一幅度

that-or-more =
    .en = that or more
    .zh = 达到这一幅度

two-servers-of-910b2 =
    .en = two servers of eight 910B2, W8A8, EP16
    .zh = 两台 8×910B2，W8A8，EP16

# number: of the deployment that is asked about
eight-h200 =
    .en = eight H200, V3.2, 100 users
    .zh = 8×H200，V3.2，100 个用户

r1-for-one-request-at =
    .en = R1 for one request at a time: { $few }, or { $many }
    .zh = R1，每次一个请求：{ $few }，或 { $many }

# number: of the deployment that is asked about
draft-on-h100 =
    .en = 72 H100, one MTP token or none
    .zh = 72×H100，MTP 投机一个 token 或不投机

question =
    .en = question
    .zh = 问题

now =
    .en = now
    .zh = 现状

other-questions =
    .en = The other questions
    .zh = 其余问题

never-throughout =
    .en = at any value: { $plan }
    .zh = 任何取值下都是“{ $plan }”

below-from-there =
    .en = **{ $value }**: { $before } below, { $after } from there{ $more ->
        [0] { "" }
       *[other] ; { $more } more reversals up to { $last }, from there { $final }
    }{ $short ->
        [0] { "" }
        [1] ; one of the two plans does not fit in memory, compared as if it did
       *[other] ; neither plan fits in memory, compared as if they did
    }
    .zh = **{ $value }**：低于此值为“{ $before }”，达到后为“{ $after }”{ $more ->
        [0] { "" }
       *[other] ；到 { $last } 为止还有 { $more } 次反转，此后为“{ $final }”
    }{ $short ->
        [0] { "" }
        [1] ；其中一个方案显存不够，按够用比较
       *[other] ；两个方案显存都不够，按够用比较
    }

throughout-in =
    .en = { $plan } throughout { $share }
    .zh = 始终“{ $plan }”占 { $share }

choice =
    .en = choice
    .zh = 选择

taken-now =
    .en = current choice
    .zh = 目前所选

card-hours =
    .en = card-hours
    .zh = 卡时

knowing-all-saves =
    .en = knowing everything saves
    .zh = 若全部已知，可省

running-one-first =
    .en = running one plan first saves
    .zh = 若先实测其中一个方案，可省

measuring-input =
    .en = measuring one input saves
    .zh = 若先测某项输入，可省

neither =
    .en = neither
    .zh = 两者皆否
