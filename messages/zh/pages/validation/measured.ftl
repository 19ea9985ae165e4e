### Measured rows beside their predictions: tables and figures of one deployment's page.

sent = 发出
at-once = 并发
without-doubtful-rows = 去掉存疑行
worst-row = 最差（行号）
# number: the intervals of all answers
in-interval = 落入 80% 区间
measured = { $metric }实测
predicted-error = 预测（误差）
requests-of-many-lengths = ‡ 请求长短不一，只知平均值。
doubt = † 第 { $rows } 行：{ $doubt }
legend-of-lengths = 输入 token 数（实线：预测，点线：下界）
prefill-throughput = 预填充吞吐
