### ``cost``: what a deployment's tokens, its energy and its years cost, and when it pays.

amount =
    .en = { $name ->
        [per_million_input] a million input tokens
        [per_million_output] a million output tokens
        [per_million_output_whole] the same, all charged to answers
        [per_million_processed] a million processed tokens: prompts, cached or not, and answers
        [per_task] a task of an agent, all its turns
        [per_hour] all cards, an hour
        [per_user_month] a user, a month
        [energy_per_token] energy per output token, cards
        [site_energy_per_token] energy per output token, site
        [cards_power] power of the cards, busy
        [site_power] power of the site, busy
        [crossover] utilisation from which it is cheaper than the API
        [capital] capital
        [yearly] a year besides
        [resale] resale at the end
        [tco] total cost of ownership, discounted
        [tco_undiscounted] the same, not discounted: capital and all years less resale
        [card_hour_of_parts] a card's hour, from these parts
        [revenue] revenue of a year at the API's price
        [npv] net present value
        [roi] return on the capital, all years
       *[payback] paid back after
    }
    .zh = { $name ->
        [per_million_input] 每百万输入 token
        [per_million_output] 每百万输出 token
        [per_million_output_whole] 每百万输出 token（成本全计入输出）
        [per_million_processed] 每百万处理 token（输入含命中缓存的部分，加输出）
        [per_task] 智能体每个任务（含全部轮次）
        [per_hour] 全部卡每小时
        [per_user_month] 每用户每月
        [energy_per_token] 每输出 token 能耗（卡）
        [site_energy_per_token] 每输出 token 能耗（机房）
        [cards_power] 卡的功率（满载）
        [site_power] 机房功率（满载）
        [crossover] 比 API 便宜的最低利用率
        [capital] 初始投资
        [yearly] 每年另付
        [resale] 期末残值
        [tco] 总拥有成本（折现）
        [tco_undiscounted] 总拥有成本（不折现）：初始投资加各年费用，减残值
        [card_hour_of_parts] 由以上各项折算的卡时价
        [revenue] 按 API 价格的年收入
        [npv] 净现值
        [roi] 投资回报率（全部年份）
       *[payback] 回本时间
    }

# number: an example
help-set =
    .en = override, of the deployment as for estimate, or of the prices: prices.years='3 year', prices.pue=1.2
    .zh = 覆盖取值：部署的，写法同 estimate；或价格的，例如 prices.years='3 year'、prices.pue=1.2

help-prices =
    .en = prices of your own, or another entry's
    .zh = 自己的价格文件，或目录中的另一份

# number: an example
help-price =
    .en = of a card's hour, everything included: '2 USD/h', or with ends '1.5..3 USD/h'
    .zh = 卡时价，已含全部费用，例如 '2 USD/h'，或给出上下限 '1.5..3 USD/h'

help-ownership =
    .en = by which an hour is priced; the first with a price, if absent
    .zh = 按哪种持有方式计卡时价；缺省为第一种有价格的

help-utilisation =
    .en = of the throughput that is used; by default what the load leaves of a deployment that its busiest hour fills
    .zh = 吞吐的利用率；缺省为按最忙一小时满载配置时全天的平均

help-load =
    .en = a day's load ({ $load })
    .zh = 一天的负载（{ $load }）

help-day-requests =
    .en = requests of a day: how many deployments its hours need, and what they cost by way of having them
    .zh = 一天的请求数：各小时需要多少部署，以及各种持有方式下的成本

help-user-requests =
    .en = requests of a user in a day ({ $count })
    .zh = 每用户每天的请求数（{ $count }）

help-api =
    .en = prices of a service ({ $service }); NAME{ $colon }LIST for one of its price lists
    .zh = API 服务的价格（{ $service }）；NAME{ $colon }LIST 指定其中一份价目

no-lengths =
    .en = '{ $scenario }' says how long its requests are at most, not how long they are, expected workload.input_tokens and workload.output_tokens.
    .zh = '{ $scenario }' 只给出请求的最大长度，未给出实际长度，应有 workload.input_tokens 与 workload.output_tokens。

sells-no-tokens =
    .en = --api { $name }: it sells no tokens, expected prices with 'sold'.
    .zh = --api { $name }：它不按 token 出售，应为带 'sold' 的价格文件。

no-such-list =
    .en = --api { $name }: there is no such price list, expected one of { $lists }.
    .zh = --api { $name }：没有这份价目，应为以下之一：{ $lists }。

none-today =
    .en = --api { $name }: no price list holds today, name one: { $example }.
    .zh = --api { $name }：今天没有生效的价目，请指定一份：{ $example }。

cheaper-than =
    .en = Cheaper than { $service } from this utilisation on
    .zh = 利用率达到多少起比 { $service } 便宜

price-list =
    .en = price list
    .zh = 价目

from =
    .en = from
    .zh = 起点

held-between =
    .en = { $since } to { $today ->
        [yes] today
       *[no] { $until }
    }
    .zh = { $since } 至 { $today ->
        [yes] 今
       *[no] { $until }
    }

never =
    .en = never
    .zh = 永不

no-number =
    .en = { $option }: '{ $text }' is not a number from { $least } to { $most }.
    .zh = { $option }：'{ $text }' 不是 { $least } 至 { $most } 之间的数。

does-not-fit =
    .en = It does not fit: the times are those of the same cut on cards with enough memory.
    .zh = 装不下：所列时间按显存足够的卡上的同样切分计算。

utilised =
    .en = { $title }: { $device }, { $share } of the throughput used.
    .zh = { $title }：{ $device }，吞吐利用率 { $share }。

card-hour =
    .en = A card's hour ({ $ownership }): { $price }, { $origin }.
    .zh = 卡时价（{ $ownership ->
        [own] 自有
        [rent-always] 长租
       *[rent-by-hour] 按小时租
    }）：{ $price }，{ $origin }。

server =
    .en = A server: { $price }, { $origin }.
    .zh = 一台服务器：{ $price }，{ $origin }。

origin =
    .en = { $source }, { $kind }{ $dated ->
        [yes] , { $date }
       *[no] { "" }
    }
    .zh = { $source }，{ $kind ->
        [vendor] 厂商
        [measured] 实测
        [derived] 推导
        [documented] 文档
        [assumed] 假定
       *[other] { $kind }
    }{ $dated ->
        [yes] ，{ $date }
       *[no] { "" }
    }

deployments-needed =
    .en = Deployments that the day needs: { $most } at most, { $mean } on average; { $share } used where all are kept.
    .zh = 全天所需部署数：最多 { $most }，平均 { $mean }；全部常开时利用率 { $share }。

# only in .en: $plain
way-an-hour =
    .en = { " " } { $plain }: { $price } an hour
    .zh = { " " } { $way ->
        [own] 自有
        [rent-always] 长租
        [rent-by-hour] 按小时租
        [own-and-by-the-hour] 自有加按小时租
       *[rent-and-by-the-hour] 长租加按小时租
    }：每小时 { $price }

in-years =
    .en = { $number } years
    .zh = { $number } 年

# only in .en: $plain
of-hours =
    .en = { $plain }
    .zh = { $name ->
        [all] 全天
        [peak] 高峰
        [off-peak] 低谷
       *[other] { $plain }
    }

expected-setting =
    .en = --set { $setting }: expected PATH=VALUE.
    .zh = --set { $setting }：应为 PATH=VALUE。
