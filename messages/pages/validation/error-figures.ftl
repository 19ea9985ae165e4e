### The pictures of the page on errors. They draw results that they are given, in SI units.

all-terms =
    .en = all terms
    .zh = 全部计入

without-it =
    .en = without it
    .zh = 不计此项

measured-s =
    .en = measured (s)
    .zh = 实测（s）

predicted-s =
    .en = predicted (s)
    .zh = 预测（s）

ms-per-token =
    .en = ms per token
    .zh = 每 token 用时（ms）

# number: of the formula
relative-error =
    .en = predicted over measured − 1 (%)
    .zh = 预测 ÷ 实测 − 1（%）

predicted-over-measured =
    .en = predicted over measured
    .zh = 预测 ÷ 实测

median-extent-of-rows =
    .en = median, extent of the rows
    .zh = 中位数与各行范围
