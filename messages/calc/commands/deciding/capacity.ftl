### ``capacity``: replicas for a day of users, servers that fail, tiers of a cache, more cards.

help-load =
    .en = how a day is spread over its hours: identifier or path of a file of loads, e.g. azure-conversation
    .zh = 一天的请求如何分布到各小时：负载文件的标识或路径，例如 azure-conversation

# number: an example
help-requests =
    .en = of a day, e.g. 200000
    .zh = 一天的请求数，例如 200000

help-users =
    .en = of a day, who each ask --questions
    .zh = 一天的用户数，各提 --questions 个问题

# number: an example
help-questions =
    .en = of a user and day, e.g. 20
    .zh = 每用户每天的提问数，例如 20

help-think-time =
    .en = of a user between an answer and the next question
    .zh = 用户从得到回答到下一次提问的间隔

# number: an example
help-ttft =
    .en = limit of the time to first token, e.g. '2 s'
    .zh = 首 token 延迟的上限，例如 '2 s'

# number: an example
help-tpot =
    .en = limit of the time per output token, e.g. '50 ms'
    .zh = 每输出 token 时间的上限，例如 '50 ms'

help-percentile =
    .en = of the requests for which limits hold, or 'mean' ({ $share } by default)
    .zh = 限制须对百分之几的请求成立，或 'mean'（缺省 { $share }）

help-spares =
    .en = servers that stand by (none by default)
    .zh = 备用服务器数（缺省为零）

# number: an example
help-promise =
    .en = share of the time for which all replicas are promised, e.g. 0.99: how many servers stand by
    .zh = 承诺全部副本可用的时间比例，例如 0.99：需要多少备用服务器

help-turns =
    .en = of a conversation: what caches keep between them
    .zh = 对话的轮数：各轮之间缓存保留什么

# number: an example
help-host-memory =
    .en = of a server for caches, e.g. '512 GiB' (all that its entry states by default)
    .zh = 每台服务器用于缓存的主机内存，例如 '512 GiB'（缺省为目录所写的全部）

# number: an example
help-storage =
    .en = of a server's drives for caches, e.g. '4 TB'
    .zh = 每台服务器用于缓存的硬盘，例如 '4 TB'

# number: the sizes
help-cards =
    .en = the best layout of 8 to 384 cards, and two pools; limits hold for means
    .zh = 8 至 384 张卡的最优切分，以及两个池；限制按均值

nothing-asked =
    .en = nothing is asked for, expected --load with --requests or --users, or --cards.
    .zh = 未提出任何问题，应给出 --load 与 --requests 或 --users，或 --cards。

users-and-questions =
    .en = --users: expected --users and --questions together, or --requests.
    .zh = --users：--users 与 --questions 应同时给出，或改用 --requests。

load-and-requests =
    .en = --load: expected --load and how many requests a day has, by --requests or by --users and --questions.
    .zh = --load：除 --load 外还应给出一天的请求数：--requests，或 --users 与 --questions。

expected-as-well =
    .en = --{ $name }: expected { $needed } as well.
    .zh = --{ $name }：还应给出 { $needed }。

out-of-range =
    .en = { $option }: expected { $whole ->
        [yes] a whole number
       *[no] a number
    } { $above ->
        [yes] above
       *[no] of at least
    } { $least }{ $most ->
        [none] { "" }
       *[other] { " " }and at most { $most }
    }.
    .zh = { $option }：应为{ $above ->
        [yes] 大于 { $least }
       *[no] 不小于 { $least }
    }{ $most ->
        [none] { "" }
       *[other] 、不大于 { $most }
    } 的{ $whole ->
        [yes] 整数
       *[no] 数
    }。

# number: the ends
no-percentile =
    .en = --percentile { $text }: expected 'mean', or a number of at least 50 and at most 99.9.
    .zh = --percentile { $text }：应为 'mean'，或 50 至 99.9 之间的数。

# number: the least
no-layout-of =
    .en = '{ $scenario }': no layout of 8 to { $most } cards meets the limits, expected higher ones.
    .zh = '{ $scenario }'：8 至 { $most } 张卡没有切分满足限制，应放宽限制。

day =
    .en = { $scenario }, { $load }: { $requests } requests a day, one replica of { $cards } cards takes { $rate } within limits ({ $of }), { $most } at most.
    .zh = { $scenario }，{ $load }：一天 { $requests } 个请求，一个副本 { $cards } 张卡，满足约束（{ $of }）时可承接 { $rate }，最多 { $most }。

hour =
    .en = hour
    .zh = 小时

busy =
    .en = busy
    .zh = 忙

needed =
    .en = replicas: { $replicas } ({ $cards } cards), busy { $share } of what they take, over the day
    .zh = 副本：{ $replicas } 个（{ $cards } 张卡），全天负荷为其承接能力的 { $share }

scaled =
    .en = scaled by the hour, started { $ahead } ahead: { $share } of the cards' time is saved
    .zh = 按小时扩缩、提前 { $ahead } 启动：可省 { $share } 的卡时

online =
    .en = in conversation in the busiest hour: { $users } users
    .zh = 最忙一小时在线对话：{ $users } 个用户

servers =
    .en = servers: { $groups } { $one ->
        [yes] group
       *[no] groups
    } of { $size }, { $spares } stand by; one fails every { $between }, is mended in { $repair }, a group restarts in { $restart } ({ $source })
    .zh = 服务器：{ $groups } 组，每组 { $size } 台，备用 { $spares } 台；每台平均故障间隔 { $between }，修复用时 { $repair }，一组重启用时 { $restart }（{ $source }）

throughput-there =
    .en = throughput that is there: { $share } ({ $low } to { $high })
    .zh = 可用吞吐占比：{ $share }（{ $low } 至 { $high }）

promised =
    .en = servers that stand by for all groups in { $promise } of the time: { $central } ({ $high } to { $low })
    .zh = 要在 { $promise } 的时间内全部各组可用，备用服务器：{ $central }（{ $high } 至 { $low }）

no-number =
    .en = no number
    .zh = 无解

caches-kept-in =
    .en = caches kept in
    .zh = 缓存放在

kept-for =
    .en = for
    .zh = 保留

found-there =
    .en = found there
    .zh = 在此命中

hits-all =
    .en = hits, all
    .zh = 累计命中

recompute =
    .en = recompute
    .zh = 重算

pays-from =
    .en = pays from
    .zh = 起效带宽

tier =
    .en = { $name ->
        [device] device
        [host] host
       *[storage] storage
    }
    .zh = { $name ->
        [device] 显存
        [host] 主机内存
       *[storage] 硬盘
    }

best-layout =
    .en = best layout
    .zh = 最优切分

two-pools =
    .en = two pools, token/s per card
    .zh = 两个池，每卡 token/s

binds =
    .en = { $name ->
        [ttft] ttft
        [tpot] tpot
        [memory_capacity] memory_capacity
       *[max_num_seqs] max_num_seqs
    }
    .zh = { $name ->
        [ttft] TTFT
        [tpot] TPOT
        [memory_capacity] 显存容量
       *[max_num_seqs] 引擎并发上限
    }

# only in .en: $plain
resource =
    .en = { $plain }
    .zh = { $name ->
        [memory_bandwidth] 显存带宽
        [l2_bandwidth] L2 带宽
        [compute] 算力
        [communication] 通信
        [host] 主机
        [fixed_costs] 固定开销
       *[memory_capacity] 显存容量
    }

doubted =
    .en = { $mark } in closed form, which a simulation need not confirm there: { $why }.
    .zh = { $mark } 为闭式结果，该处仿真未必证实：{ $why }。

two-pools-of =
    .en = { $rate } ({ $pools })
    .zh = { $rate }（{ $pools }）

working =
    .en = { $part ->
        [day] replicas of every hour
        [tiers] tiers of caches
       *[cards] layouts of more cards
    }
    .zh = { $part ->
        [day] 每小时的副本数
        [tiers] 各级缓存
       *[cards] 更多卡的布局
    }

interrupted =
    .en = Interrupted: { $part ->
        [tiers] there is no answer on tiers of caches, nor on what follows them.
       *[cards] there is no answer on more cards.
    }
    .zh = 已中断：{ $part ->
        [tiers] 各级缓存及其后各项未算出。
       *[cards] 更多卡的布局未算出。
    }
