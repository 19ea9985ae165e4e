### The pictures of the page on errors. They draw results that they are given, in SI units.

measured-s =
    .en = measured (s)
    .zh = 实测（s）

predicted-s =
    .en = predicted (s)
    .zh = 预测（s）

ms-per-token =
    .en = ms per token
    .zh = 每 token 用时（ms）

predicted-over-measured =
    .en = predicted over measured
    .zh = 预测 ÷ 实测

median-extent-of-rows =
    .en = median, extent of the rows
    .zh = 中位数与各行范围
