### The command line, ``python -m calc COMMAND`` or ``will-it-fit COMMAND``; see ``--help``.

description =
    .en = The command line, ``python -m calc COMMAND`` or ``will-it-fit COMMAND``; see ``--help``.
    .zh = 命令行：``python -m calc 命令`` 或 ``will-it-fit 命令``；用法见 ``--help``。

version =
    .en = print the version
    .zh = 显示版本

lang =
    .en = language of what is printed for people; that of the environment
    .zh = 输出给人看的文字所用语言；默认随环境

lang-of-answer =
    .en = language of the answer
    .zh = 回答所用语言

check =
    .en = check every file of the catalogue, or those given
    .zh = 检查目录中的全部文件，或所给的文件

listing =
    .en = list the { $kind }, or show one
    .zh = 列出{ $kind ->
        [models] 模型
        [devices] 设备
        [links] 链路
        [nodes] 服务器
       *[scenarios] 场景
    }，或查看其中一个

estimate =
    .en = whether a deployment fits, its latency, throughput and what binds them; what would fit
    .zh = 一个部署是否装得下，其延迟、吞吐与瓶颈；装不下时什么装得下

cost =
    .en = what a deployment's tokens, energy and years cost, and when it pays
    .zh = 一个部署的 token 成本、能耗成本与各年成本，以及何时回本

simulate =
    .en = arrivals at a deployment, step by step: percentiles, goodput
    .zh = 请求到达一个部署，逐步仿真：分位数、有效吞吐

sweep =
    .en = any number of deployments, on this machine or a cluster: their front, the best, or all of them as Parquet
    .zh = 在本机或集群上扫描任意多个部署：给出前沿、最优，或全部写为 Parquet

validate =
    .en = errors of every prediction of a measured row
    .zh = 每个实测行的预测误差

calibrate =
    .en = fit a calibration to its measured rows
    .zh = 用实测行拟合一份校准

log =
    .en = a start-up log of an engine beside the prediction of its memory, term by term
    .zh = 引擎启动日志与显存预测逐项对照

discrepancy =
    .en = the formulas' own error by class of systems, for intervals
    .zh = 按系统类别给出公式自身的误差，供区间使用

kernels =
    .en = tables of measured operators: what is in them, what is wrong
    .zh = 算子实测表：内容与问题

capacity =
    .en = replicas for a day of users, failures, tiers, more cards
    .zh = 一天的用户要多少副本；故障、缓存层级、更多的卡

import-model =
    .en = write a model file from the config.json of a Hugging Face model
    .zh = 由 Hugging Face 模型的 config.json 生成模型文件

search =
    .en = every deployment that meets a goal, the best of them, and what was left out
    .zh = 满足目标的全部部署、其中最优者，以及排除了什么

decide =
    .en = what a decision hangs on: elasticities, tornado, break-even, worth of measuring
    .zh = 决策取决于什么：弹性、龙卷风图、盈亏平衡点、实测的价值

audit =
    .en = every claim of the documents with a computed verdict, and what is right
    .zh = 文档的每条论断：计算得出的结论与正确值

deploy =
    .en = the files that start and watch a deployment, in a directory of their own
    .zh = 启动并监控一个部署的文件，写入单独的目录

report =
    .en = a deployment's page of the book, as one HTML file
    .zh = 一个部署在书中的页面，存为单个 HTML 文件

engines =
    .en = which arguments, variables and metrics an engine has in which release
    .zh = 引擎的哪个版本有哪些参数、环境变量与指标

interrupted =
    .en = interrupted.
    .zh = 已中断。

no-output =
    .en = the output cannot be written ({ $why }).
    .zh = 输出无法写入（{ $why }）。

lacks =
    .en = { $command }: the library { $library } is not installed, expected the package with its extra: pip install '{ $wheel }'.
    .zh = { $command }：未安装 { $library } 库，请安装带附加依赖的包：pip install '{ $wheel }'。
