### Predicted and measured: errors, pictures, every row, and what other tools predict.

prompt-tokens =
    .en = prompt tokens
    .zh = 输入 token 速率

this-deployment-has-not-been =
    .en = This deployment has not been measured.
    .zh = 该部署没有实测数据。

# number: the intervals of all answers
bars-are-intervals-circled-points =
    .en = Bars are 80% intervals; circled points are of rows in doubt.
    .zh = 竖线为 80% 区间；加圈的点属于存疑的行。

# number: the intervals of all answers
bars-are-intervals =
    .en = Bars are 80% intervals.
    .zh = 竖线为 80% 区间。

column =
    .en = column
    .zh = 列

meaning-in-source =
    .en = meaning in the source
    .zh = 在来源中的含义

what-columns-mean =
    .en = What the columns mean
    .zh = 各列的含义

nothing-is-fitted-predictions-use =
    .en = { $of }: { $text }. Nothing is fitted: predictions use only priors and each row's lengths and number of requests.
    .zh = { $of }：{ $text }。预测不作任何拟合：各系统都只用先验，每一行只取其长度与请求数。

errors-after-calibration-on-rows =
    .en = Errors after a calibration, on rows that it was not fitted to: [all errors](#validation).
    .zh = 标定之后、未参与拟合的行上还剩多少误差，见[误差一页](#validation)。

prompts-of-tokens-have-too =
    .en = Prompts of { $rest } tokens have too few rows for a line; they still count.
    .zh = 输入 { $rest } token 的行数太少，未画成曲线，但仍计入误差。

measured-time-per-output-token =
    .en = The measured time per output token is { $low }{ $spans ->
        [yes] { " " }to { $high }
       *[no] { "" }
    } times the floor.
    .zh = 实测的每输出 token 时间为下界的 { $low }{ $spans ->
        [yes] { " " }至 { $high }
       *[no] { "" }
    } 倍。

what-another-tool-predicts-of =
    .en = What another tool predicts of it:
    .zh = 另一工具对它的预测：

tool =
    .en = tool
    .zh = 工具

its-prediction-error =
    .en = its prediction (error)
    .zh = 其预测（误差）

predicted-here-error =
    .en = predicted here (error)
    .zh = 本书预测（误差）
