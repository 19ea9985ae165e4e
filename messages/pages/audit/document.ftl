### The page of one document: what of it can be used, what is wrong and why, every claim.

of-its-claims =
    .en = { $subject } Of its **{ $total }** claims, **{ $right }** hold, **{ $wrong }** do not, and { $undecided } cannot be decided.
    .zh = { $subject }全部 **{ $total }** 条论断中，成立 **{ $right }** 条，不成立 **{ $wrong }** 条，无法判定 { $undecided } 条。

what-goes-wrong-most =
    .en = What goes wrong most: { $worst }
    .zh = 影响最大的错误：{ $worst }

of-them-hold =
    .en = of them hold
    .zh = 成立比例

every-section-it-can-be =
    .en = Every section; it can be sorted
    .zh = 按章节列出，可排序

what-goes-wrong =
    .en = what goes wrong
    .zh = 错在哪里

largest-error =
    .en = largest error
    .zh = 最大误差

such-as =
    .en = such as
    .zh = 例如

what-is-missing =
    .en = what is missing
    .zh = 缺少的来源

by-what-is-missing =
    .en = By what is missing
    .zh = 按缺少的来源列出

what-and-why =
    .en = what, and why
    .zh = 内容与理由

off-by =
    .en = off by
    .zh = 相差

claims-of-document =
    .en = claims of the document
    .zh = 文档的论断
