### The elements of the page, each with a table for browsers that run no scripts.

calculator-of-this-page-needs =
    .en = The calculator on this page needs JavaScript. Without it, use the table below, which covers common cards.
    .zh = 本页的计算器需要 JavaScript；浏览器未启用时，常见的卡可查下表。

row =
    .en = cards, precision, layout
    .zh = 卡，精度，切分

# number: the intervals of all answers
value-of =
    .en = { $what } (80%)
    .zh = { $what }（80% 区间）

of-one-card =
    .en = { $what }, per card
    .zh = { $what }，每卡

usd-per-hour-of-card =
    .en = USD per card-hour
    .zh = 美元/卡时

usd-per-million-prompt-tokens =
    .en = USD per million prompt tokens
    .zh = 美元/百万输入 token

what-is-asked =
    .en = what is asked
    .zh = 输入

intensity-of =
    .en = { $intensity }, { $phase }
    .zh = { $intensity }（{ $phase }）
