### Predicted and measured: errors, pictures, every row, and what other tools predict.

prompt-tokens = 输入 token 速率
this-deployment-has-not-been = 该部署没有实测数据。
# number: the intervals of all answers
bars-are-intervals-circled-points = 竖线为 80% 区间；加圈的点属于存疑的行。
# number: the intervals of all answers
bars-are-intervals = 竖线为 80% 区间。
column = 列
meaning-in-source = 在来源中的含义
what-columns-mean = 各列的含义
nothing-is-fitted-predictions-use = { $of }：{ $text }。预测不作任何拟合：各系统都只用先验，每一行只取其长度与请求数。
errors-after-calibration-on-rows = 标定之后、未参与拟合的行上还剩多少误差，见[误差一页](#validation)。
prompts-of-tokens-have-too = 输入 { $rest } token 的行数太少，未画成曲线，但仍计入误差。
measured-time-per-output-token =
    实测的每输出 token 时间为下界的 { $low }{ $spans ->
        [yes] { " " }至 { $high }
       *[no] { "" }
    } 倍。
what-another-tool-predicts-of = 另一工具对它的预测：
tool = 工具
its-prediction-error = 其预测（误差）
predicted-here-error = 本书预测（误差）
