### The page of one document: what of it can be used, what is wrong and why, every claim.

what-goes-wrong =
    .en = what goes wrong
    .zh = 错在哪里

consequence =
    .en = it leads to
    .zh = 后果

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
