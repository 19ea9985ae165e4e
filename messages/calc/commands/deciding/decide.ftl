### ``decide``: what a decision hangs on: elasticities, tornado, break-even, value of measuring.

help-set =
    .en = override as of estimate
    .zh = 覆盖取值，与 estimate 相同

help-quantity =
    .en = what is decided by: tpot (unless told), ttft, output_throughput, card_hours, throughput_per_card, headroom_per_device, ...
    .zh = 决策所依据的量：tpot（缺省）、ttft、output_throughput、card_hours、throughput_per_card、headroom_per_device 等

help-elasticities =
    .en = change in per cent for a per cent of each input
    .zh = 各输入变化百分之一时结果变化百分之几

help-tornado =
    .en = each input at either end of its range, alone
    .zh = 每个输入单独取其范围两端

help-sensitivity =
    .en = Sobol indices: share of the variance that each input explains
    .zh = Sobol 指数：每个输入解释的方差占比

help-samples =
    .en = of the design of --sensitivity, or draws of --information
    .zh = --sensitivity 的设计样本数，或 --information 的抽样数

help-breakeven =
    .en = at which values of PATH the deployment and --against are equal
    .zh = PATH 取何值时该部署与 --against 相当

help-against =
    .en = the same with changes or another deployment
    .zh = 改动后的同一部署，或另一个部署

help-between =
    .en = range of PATH that is searched
    .zh = PATH 的查找范围

# number: an example
help-margin =
    .en = by how much --against has to be better, e.g. 0.1
    .zh = --against 至少要好多少，例如 0.1

help-information =
    .en = which input is worth measuring before one chooses (--against) or buys (--demand)
    .zh = 在选型（--against）或采购（--demand）之前，哪个输入值得先实测

# number: an example
help-demand =
    .en = output tokens per second to buy for, e.g. '50000 token/s'
    .zh = 采购所需的每秒输出 token 数，例如 '50000 token/s'

help-late =
    .en = price of a card that turns out to be missing, over today's
    .zh = 事后补买一张卡的价格与现价之比

# number: an example
help-price =
    .en = of a card (--demand), or of a card-hour, e.g. '2.5 USD'
    .zh = 一张卡（--demand）或一个卡时的价格，例如 '2.5 USD'

expected-against =
    .en = --breakeven: expected --against beside it.
    .zh = --breakeven：还应给出 --against。

expected-breakeven =
    .en = --against: expected --breakeven PATH or --information beside it.
    .zh = --against：还应给出 --breakeven PATH 或 --information。

heading =
    .en = { $label }: { $quantity } { $value }.{ $fits ->
        [yes] { "" }
       *[no] { " " }It does not fit its memory; all of this is of the same cut on cards with enough of it.
    }
    .zh = { $label }：{ $quantity } { $value }。{ $fits ->
        [yes] { "" }
       *[no] 显存装不下；以下均按显存足够的卡上的同样切分计算。
    }

# number: the step of the input
per-cent =
    .en = { $signed ->
        [yes] per 1% ({ $unit })
       *[no] % per 1%
    }
    .zh = { $signed ->
        [yes] 每 1%（{ $unit }）
       *[no] 每 1% 变化 %
    }

elasticities =
    .en = Elasticities
    .zh = 弹性

arc =
    .en = { $size }{ $arc ->
        [yes] { " " }(arc)
       *[no] { "" }
    }
    .zh = { $size }{ $arc ->
        [yes] （弧）
       *[no] { "" }
    }

slopes =
    .en = Slopes of the piece that holds: ceilings stand still, of a maximum the larger side counts. An arc is the mean between half of a count and twice.
    .zh = 斜率取当前所在的分段：上取整不动，取最大值处按较大一侧计。弧弹性是计数从一半到两倍之间的平均。

swing =
    .en = swing
    .zh = 摆幅

each-alone =
    .en = Each input alone
    .zh = 逐个输入

nothing-moves =
    .en = No range of an input moves it.
    .zh = 没有哪个输入的范围能改变它。

decides =
    .en = What decides: { $inputs }{ $own ->
        [yes] ; more than each of them does what no input moves, the formulas' own error, which only running the deployment tells.
       *[no] .
    }
    .zh = 起决定作用的：{ $inputs }{ $own ->
        [yes] ；比其中任何一项影响更大的是任何输入都改变不了的公式自身误差，只有实际运行才知道。
       *[no] 。
    }

in-company =
    .en = in company
    .zh = 连同其他

share-of-variance =
    .en = Share of the variance (Sobol)
    .zh = 方差占比（Sobol）

# number: the confidence
evaluations =
    .en = { $count } evaluations of a design of { $samples }{ $log ->
        [yes] ; standard deviation { $deviation }
       *[no] { "" }
    }; 95% confidence.
    .zh = 设计样本 { $samples }，共计算 { $count } 次{ $log ->
        [yes] ；标准差 { $deviation }
       *[no] { "" }
    }；置信度 95%。

both-alike =
    .en = both alike
    .zh = 两者相当

neither =
    .en = neither
    .zh = 无

path-throughout =
    .en = { $path } from { $low } to { $high }: { $who } throughout.
    .zh = { $path } 从 { $low } 到 { $high }，较优者始终：{ $who }。

path-at-first =
    .en = { $path } from { $low } to { $high }: { $who } is better at first,
    .zh = { $path } 从 { $low } 到 { $high }，较优者起初：{ $who }；

turn =
    .en = { " " } from { $at } on { $who }{ $crossing ->
        [yes] { "" }
       *[no] { " " }(a step)
    }{ $room ->
        [yes] , where memory is too small for { $short }
       *[no] { "" }
    }.
    .zh = { " " } 从 { $at } 起：{ $who }{ $crossing ->
        [yes] { "" }
       *[no] （跳变）
    }{ $room ->
        [yes] ，此处 { $short } 显存不足
       *[no] { "" }
    }。

more-turns =
    .en = { " " } ... { $count } further changes.
    .zh = { " " } …… 另有 { $count } 处变化。

now =
    .en = Now { $value }; { $tried } points tried.
    .zh = 现为 { $value }；共试 { $tried } 个点。

does-not-fit =
    .en = { $label } does not fit its memory as it is.
    .zh = { $label } 现状下显存装不下。

# number: the intervals of all answers
doubt =
    .en = With all other inputs within their ranges { $turns ->
        [yes] it turns from { $low } to { $high } (80% interval),{ " " }
       *[no] { "" }
    }{ $first } is better throughout in { $share } of the cases and { $second } in { $other }.
    .zh = 其余输入在各自范围内变动时，{ $turns ->
        [yes] 转折点在 { $low } 至 { $high } 之间（80% 区间），
       *[no] { "" }
    }{ $share } 的情形下 { $first } 始终更优，{ $other } 的情形下 { $second } 始终更优。

demand-needs =
    .en = --demand: expected --late FACTOR beside it, and neither --against nor --quantity.
    .zh = --demand：还应给出 --late FACTOR，且不应有 --against 或 --quantity。

cards =
    .en = cards
    .zh = 张卡

price-no-place =
    .en = --price: has no place beside { $quantity }, expected card_hours.
    .zh = --price：不能与 { $quantity } 同用，应为 card_hours。

per-million =
    .en = { $hours ->
        [yes] card-hours
       *[no] { $currency }
    } per million tokens
    .zh = { $hours ->
        [yes] 卡时
       *[no] { $currency }
    }/百万 token

information-needs =
    .en = --information: expected a choice, --against, or a purchase, --demand.
    .zh = --information：应给出一个选择（--against）或一次采购（--demand）。

would-take =
    .en = Now one would take { $option }: expected { $loss }. In { $share } of the cases another choice turns out better.
    .zh = 现在会选 { $option }：期望 { $loss }。{ $share } 的情形下另一选择更好。

perfect =
    .en = Knowing everything first would save { $saved }.
    .zh = 若事先全部知道，可省 { $saved }。

# number: the intervals of all answers
cards-needed =
    .en = Cards needed: { $half }, in 80% of the cases { $few } to { $most }.
    .zh = 所需卡数：{ $half }，80% 的情形下为 { $few } 至 { $most }。

measured-first =
    .en = measured first
    .zh = 先实测

saves =
    .en = saves ({ $unit })
    .zh = 可省（{ $unit }）

changes-choice =
    .en = changes the choice
    .zh = 改变选择的概率

worth =
    .en = What knowing it is worth
    .zh = 实测的价值

draws =
    .en = { $count } draws; below { $scatter } nothing is told apart from nothing.
    .zh = 抽样 { $count } 次；低于 { $scatter } 的与零无从区分。

# number: the ends
no-share =
    .en = --margin { $text }: expected a share from 0 to below 1.
    .zh = --margin { $text }：应为 0 到 1（不含）之间的份额。

no-demand =
    .en = --demand { $text }: expected more than none.
    .zh = --demand { $text }：应大于零。

# number: an example
no-money =
    .en = --price { $text }: expected an amount such as '2.5 USD', in { $first } or { $second }.
    .zh = --price { $text }：应为金额，例如 '2.5 USD'，币种为 { $first } 或 { $second }。

working =
    .en = { $way ->
        [sensitivity] values of the quantity
        [information] what measuring each input is worth
        [breakeven] where one becomes better than the other
       *[other] each input alone
    }
    .zh = { $way ->
        [sensitivity] 该量的取值
        [information] 测量各输入的价值
        [breakeven] 寻找优劣转折处
       *[other] 逐一改变各输入
    }

interrupted =
    .en = Interrupted: { $way ->
        [sensitivity] the shares of variance are missing.
       *[other] what follows is not known.
    }
    .zh = 已中断：{ $way ->
        [sensitivity] 方差份额未算出。
       *[other] 其余各项未算出。
    }
