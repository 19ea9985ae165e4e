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
    .en = of
    .zh = 分布

every-other-cause =
    .en = Every other cause
    .zh = 其余原因

of-what =
    .en = of what
    .zh = 内容

what-is-printed-bold-holds =
    .en = what is printed; bold: holds
    .zh = 文档所写；粗体成立

every-other-contradiction =
    .en = Every other contradiction
    .zh = 其余矛盾之处

were-it-to-load =
    .en = { $value }, were it to load
    .zh = { $value }（假设能加载）
