### InfiniBand or RoCE between servers that share experts.

step-over =
    .en = step over { $link } (ms)
    .zh = { $link } 上的一步（ms）

longer =
    .en = longer over RoCE
    .zh = RoCE 多用
