### Hostile input, kills, two builds and other packages.

door =
    .en = what was spoilt
    .zh = 被破坏的输入

door-scenario =
    .en = deployments
    .zh = 部署文件

door-device =
    .en = cards
    .zh = 卡的文件

door-model =
    .en = models
    .zh = 模型文件

door-goal =
    .en = goals of a search
    .zh = 搜索目标

door-prices =
    .en = prices
    .zh = 价格

door-load =
    .en = loads of a day
    .zh = 一天的负载

door-results =
    .en = results of a benchmark
    .zh = 压测结果

door-launch =
    .en = files that `deploy` wrote
    .zh = `deploy` 写出的文件

door-ledger =
    .en = claims of documents
    .zh = 文档论断

door-tables =
    .en = tables of kernels
    .zh = 算子表

door-config =
    .en = `config.json` of models
    .zh = 模型的 `config.json`

door-entries =
    .en = other entries of the catalogue
    .zh = 目录中的其他条目

door-options =
    .en = options of commands
    .zh = 命令选项

command =
    .en = command
    .zh = 命令

two-processes =
    .en = { $command }, two processes
    .zh = { $command }，两个进程

build-of-the-book =
    .en = build of the book
    .zh = 本书的构建

not-tried =
    .en = not tried
    .zh = 未试

date =
    .en = date
    .zh = 日期

cases =
    .en = cases
    .zh = 次数

answered =
    .en = answered
    .zh = 给出答案

refused =
    .en = refused in a sentence
    .zh = 一句话拒绝

traceback =
    .en = traceback
    .zh = 异常退出

endless =
    .en = endless
    .zh = 不结束

unclear =
    .en = unclear
    .zh = 不明确

kills =
    .en = kills
    .zh = 强行终止次数

processes =
    .en = processes left
    .zh = 残留进程

files =
    .en = files left
    .zh = 残留文件

unclear-ends =
    .en = unclear ends
    .zh = 结束不明确

title-doors =
    .en = Hostile input
    .zh = 恶意输入

amount-doors =
    .en = { $cases } spoilt files and arguments, at { $doors } of { $all } doors
    .zh = { $cases } 个损坏的文件与参数，{ $all } 类入口中试了 { $doors } 类

told-doors =
    .en = { $count } ended neither in an answer nor in one sentence
    .zh = { $count } 次既没有答案，也没有用一句话说明

title-kills =
    .en = Commands killed halfway
    .zh = 中途强行终止命令

amount-kills =
    .en = { $kills } kills of { $commands } commands
    .zh = { $commands } 条命令，终止 { $kills } 次

told-kills =
    .en = { $count } left a process or a file, or ended unclearly
    .zh = { $count } 次留下进程、文件，或结束不明确

title-builds =
    .en = Two builds of this book
    .zh = 本书构建两遍

amount-builds =
    .en = { $files } files, byte by byte
    .zh = { $files } 个文件，逐字节比较

told-builds =
    .en = { $count } not the same
    .zh = { $count } 个不同

builds =
    .en = Commit { $commit }, { $date }: { $different } of { $files } files ({ $size }) differ.
    .zh = 提交 { $commit }，{ $date }：{ $files } 个文件（{ $size }）中有 { $different } 个不同。

file =
    .en = file
    .zh = 文件

differing-files =
    .en = Files that differ
    .zh = 不同的文件

title-packages =
    .en = Oldest and newest packages
    .zh = 最旧与最新的依赖包

amount-packages =
    .en = { $environments } of { $all } environments, { $values } numbers in each
    .zh = { $all } 个环境中试了 { $environments } 个，每个 { $values } 个数

told-packages =
    .en = { $count } gave other numbers, or none
    .zh = { $count } 个得出不同的数或没有答案

packages =
    .en = { $questions } questions, { $date }; the same means within { $tolerance } (relative).
    .zh = { $questions } 个问题，{ $date }；相对差不超过 { $tolerance } 即为一致。

which-packages =
    .en = { $end ->
        [oldest] oldest
       *[newest] newest
    }
    .zh = { $end ->
        [oldest] 最旧
       *[newest] 最新
    }

packages-used =
    .en = packages
    .zh = 依赖包

numbers =
    .en = numbers
    .zh = 数的个数

largest =
    .en = largest relative difference
    .zh = 最大相对差

outcome =
    .en = { $of ->
        [not-run] **not run**
        [failed] **no answer**
        [other] **other numbers**
       *[same] the same
    }
    .zh = { $of ->
        [not-run] **未运行**
        [failed] **没有答案**
        [other] **数值不同**
       *[same] 一致
    }

result =
    .en = answers
    .zh = 答案
