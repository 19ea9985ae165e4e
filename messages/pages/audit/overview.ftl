### The page on all documents: counts, causes, contradictions side by side.

all-documents =
    .en = S0 and S1 plan services of DeepSeek models, S2 and S3 report measurements of some. Of the **{ $total }** quantitative claims in these four documents, **{ $right }** hold, **{ $wrong }** do not, and { $undecided } cannot be decided.
    .zh = S0、S1 规划 DeepSeek 模型的服务，S2、S3 报告实测。四份文档共 **{ $total }** 条定量论断：成立 **{ $right }**，不成立 **{ $wrong }**，无法判定 { $undecided }。

document =
    .en = document
    .zh = 文档

cause =
    .en = cause
    .zh = 原因

in-which =
    .en = by document
    .zh = 分布

every-other-cause =
    .en = Every other cause
    .zh = 其余原因

of-what =
    .en = of what
    .zh = 内容

what-is-printed =
    .en = what is printed
    .zh = 文档所写

contradictions =
    .en = Contradictions of the documents
    .zh = 文档中的矛盾

they-contradict-each-other =
    .en = The documents contradict themselves or each other **{ $count }** times: { $values } times one quantity of one thing is given two values that exclude each other, { $numbers } times numbers stand side by side that cannot all be true, and { $settings ->
        [one] once a setting of one deployment is
       *[other] { $settings } times a setting of one deployment is
    } given two values. A program finds them from what is printed; a range that holds the other value, a limit that is kept, and a difference within the printed digits do not count.
    .zh = 各文档自相矛盾或彼此矛盾共 **{ $count }** 处：同一对象的同一量取值互不相容 { $values } 处，几个数不可能同时成立 { $numbers } 处，同一部署的同一设置项取值不同 { $settings } 处。均由程序按所印的数找出：范围包含对方、满足对方的限值、或差异在所印位数之内的，都不算。

right-or-attainable =
    .en = correct or attainable value
    .zh = 正确值或可达值

number =
    .en = no.
    .zh = 序号

one-quantity =
    .en = one quantity, two values
    .zh = 同一量，两个值

numbers-excluded =
    .en = numbers that exclude each other
    .zh = 数值关系不成立

set-twice =
    .en = a setting set twice
    .zh = 同一设置项，两个值

were-it-to-load =
    .en = { $value }, if it loaded
    .zh = { $value }（假设能加载）
