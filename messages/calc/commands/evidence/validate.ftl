### ``validate``: every prediction of a measured row beside its measurement.

help-system =
    .en = only this measured scenario, by name; or a deployment's file of yours whose 'measured' names your rows
    .zh = 只看此实测场景（按名称）；或你自己的部署文件，其 'measured' 指向你的实测行

help-metric =
    .en = only this quantity
    .zh = 只看此量

help-energy =
    .en = energy per token of the cards instead, where power was measured
    .zh = 改看卡的每 token 能耗（测过功率的）

# only in .en: $name
column =
    .en = { $name }
    .zh = { $name ->
        [system] 系统
        [metric] 指标
        [protocol] 方法
        [rows] 行数
        [refused] 被拒
        [bias] 偏差
        [mean] 平均
        [median] 中位数
        [worst] 最差
        [coverage] 覆盖率
        [width] 宽度
       *[blind] 盲测
    }

test-only =
    .en = Tested on, never fitted to (params/gates/); bias is the geometric mean of predicted over measured:
    .zh = 只用于检验、从不用于拟合（params/gates/）；偏差为预测与实测之比的几何平均：

refused-rows =
    .en = { $system }: rows refused as asked, predicted where possible: { $rows }
    .zh = { $system }：按原样被拒、尽可能仍作预测的行：{ $rows }

worst =
    .en = { $error } (row { $row })
    .zh = { $error }（第 { $row } 行）

nothing-measured =
    .en = --system { $name }: nothing was measured of it, expected 'measured: my-rows.yml' in its file (params/templates/measurements.yml), or one of { $known }.
    .zh = --system { $name }：没有它的实测，应在其文件中写 'measured: my-rows.yml'（params/templates/measurements.yml），或为以下之一：{ $known }。

lacks-column =
    .en = { $file }: a row needs the column '{ $column }' beside what was measured, found { $found }.
    .zh = { $file }：除实测值外，每行还需 '{ $column }' 列，现有 { $found }。

nothing-predicted =
    .en = { $file }: nothing in it is predicted, expected a column among { $names }.
    .zh = { $file }：其中没有可预测的量，应有以下之一的列：{ $names }。

neither =
    .en = --energy: holds every table of power against its prediction, expected neither --system nor --metric beside it.
    .zh = --energy：对照全部功率表，不能与 --system 或 --metric 同用。

# number: the intervals of all answers
table =
    .en = { $table }: requests, J/token measured, predicted (80% interval), error
    .zh = { $table }：请求数、实测 J/token、预测（80% 区间）、误差

summary =
    .en = { $name }: { $rows } rows, median error { $median }, mean { $mean }, worst { $worst }, { $coverage } inside the interval
    .zh = { $name }：{ $rows } 行，误差中位数 { $median }，平均 { $mean }，最差 { $worst }，{ $coverage } 落在区间内

protocol =
    .en = { $name }
    .zh = { $name ->
        [uncalibrated] 未校准
        [leave-one-out] 逐行留一
        [leave-one-length-out] 逐长度留一
        [single-request] 仅用单请求
        [low-concurrency] 仅用低并发
        [short-inputs] 仅用短输入
        [halves] 随机对半
       *[other] { $name }
    }
