### Where one plan stops being the better one, for documented deployments; choices between two.

one-draft =
    .en = one MTP token
    .zh = MTP 投机一个 token

none =
    .en = none
    .zh = 不投机

one-pool =
    .en = one pool
    .zh = 单资源池

two-pools =
    .en = two pools
    .zh = 两个资源池

link-rate-for-tp16 =
    .en = link rate at which TP16 beats TP8×DP2
    .zh = 链路多快时 TP16 胜过 TP8×DP2

# number: of the deployment that is asked about
link-rate-for-tp16-in-w8a8 =
    .en = the same in W8A8 with EP16, 32 requests
    .zh = 同上，W8A8 加 EP16，32 个请求

network-latency-for-tp16 =
    .en = network latency up to which TP16 wins in that case
    .zh = 该情形下网络延迟多低时 TP16 胜出

hit-rate-for-fetched-experts =
    .en = hit rate at which fetching experts is as fast as keeping all on cards, one request
    .zh = 命中率多高时从主机取专家与全部在卡上一样快（单请求）

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
    .en = batch at which wide EP pays on eight cards
    .zh = 八卡上批量多大时宽 EP 划算

dp8-with-ep8 =
    .en = DP8 with EP8
    .zh = DP8 加 EP8

requests-for-ep96 =
    .en = requests per card up to which EP96 yields more per card than EP32
    .zh = 每卡请求数在多少以内 EP96 的单卡吞吐高于 EP32

# number: of the deployment that is asked about
prompt-for-two-pools =
    .en = prompt from which two pools pay, TPOT of 50 ms at most
    .zh = 输入多长时两个资源池划算（TPOT 不超过 50 ms）

acceptance-for-draft =
    .en = acceptance at which an MTP token pays
    .zh = 接受率多高时投机划算

# number: of the deployment that is asked about
acceptance-for-draft-ep72 =
    .en = the same on 72 cards, EP72
    .zh = 同上，72 卡 EP72

context-for-w8a8-quarter =
    .en = context up to which W8A8 is a quarter faster than BF16
    .zh = 上下文多长以内 W8A8 比 BF16 快四分之一

context-for-w8a8-tenth =
    .en = context up to which W8A8 is a tenth faster
    .zh = 同上，快十分之一

utilisation-for-h200 =
    .en = utilisation from which eight H200 at { $price } an hour, with { $model } for { $users } requests at once of { $prompt } + { $answer } tokens, are cheaper than DeepSeek's own service ({ $sold }, { $hours }: { $input } and { $output } USD per million tokens in and out)
    .zh = 利用率多高时八张 H200（卡时价 { $price }，运行 { $model }，{ $users } 个并发请求，输入 { $prompt }、输出 { $answer } token）比 DeepSeek 官方 API 便宜（{ $sold }，{ $hours }，每百万输入、输出 token { $input } 与 { $output } 美元）

used-of-day =
    .en = { $share }, of a day's load
    .zh = { $share }（一天负载的平均）

two-servers-of-910b2 =
    .en = two servers of eight 910B2, W8A8, EP16
    .zh = 两台 8×910B2，W8A8，EP16

# number: of the deployment that is asked about
eight-h200 =
    .en = eight H200, V3.2, 100 users
    .zh = 8×H200，V3.2，100 个用户

r1-for-one-request-at =
    .en = R1 for one request at a time
    .zh = R1，每次一个请求

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

owning =
    .en = owning
    .zh = 自有

service =
    .en = the service
    .zh = 官方 API

never-throughout =
    .en = never: { $plan } throughout
    .zh = 没有：始终是“{ $plan }”

below-from-there =
    .en = **{ $value }**: { $before } below, { $after } from there{ $more ->
        [0] { "" }
       *[other] ; { $more } more reversals beyond
    }{ $room ->
        [yes] { "" }
       *[no] ; at that value the memory is too small
    }
    .zh = **{ $value }**：低于此值选“{ $before }”，达到后选“{ $after }”{ $more ->
        [0] { "" }
       *[other] ；此后还有 { $more } 次反转
    }{ $room ->
        [yes] { "" }
       *[no] ；但此时显存不够
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
