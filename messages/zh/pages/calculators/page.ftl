### The elements of the page, each with a table for browsers that run no scripts.

calculator-of-this-page-needs = 本页的计算器需要 JavaScript；浏览器未启用时，常见的卡可查下表。
row = 卡，精度，切分
# number: the intervals of all answers
value-of = { $what }（80% 区间）
of-one-card = { $what }，每卡
usd-per-hour-of-card = 美元/卡时
usd-per-million-prompt-tokens = 美元/百万输入 token
what-is-asked = 输入
intensity-of = { $intensity }（{ $phase }）
