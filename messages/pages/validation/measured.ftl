### Measured rows beside their predictions: tables and figures of one deployment's page.

sent =
    .en = sent
    .zh = 发出

at-once =
    .en = at once
    .zh = 并发

without-doubtful-rows =
    .en = without doubtful rows
    .zh = 去掉存疑行

worst-row =
    .en = worst (row)
    .zh = 最差（行号）

# number: the intervals of all answers
in-interval =
    .en = in the 80% interval
    .zh = 落入 80% 区间

measured =
    .en = { $metric }, measured
    .zh = { $metric }实测

predicted-error =
    .en = predicted (error)
    .zh = 预测（误差）

requests-of-many-lengths =
    .en = ‡ Requests of many lengths, of which only the mean is known.
    .zh = ‡ 请求长短不一，只知平均值。

doubt =
    .en = † { $count ->
        [one] Row
       *[other] Rows
    } { $rows }: { $doubt }
    .zh = † 第 { $rows } 行：{ $doubt }

legend-of-lengths =
    .en = input tokens (line: predicted, dotted: floor)
    .zh = 输入 token 数（实线：预测，点线：下界）

prefill-throughput =
    .en = prefill throughput
    .zh = 预填充吞吐
