### What block, share and dtype of the cache are worth, and what pages save over reserving.

default-or-kernels-of =
    .en = default or kernels of
    .zh = 默认值或算子要求

left-empty =
    .en = left empty
    .zh = 空置

empty-per-request =
    .en = empty per request
    .zh = 每请求空置

entries-at-tokens =
    .en = entries at { $tokens } tokens
    .zh = { $tokens } token 的块表项数

entry-size-that-would-equal =
    .en = size per entry that would equal the empty slots
    .zh = 每表项多大才与空置相当

sixteen-cards =
    .en = sixteen cards
    .zh = 十六张卡
