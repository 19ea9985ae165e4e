### ``kernels``: tables of measured operators, what is in them, and laws fitted to them.

action =
    .en = { $name ->
        [list] operators, cards and engines of tables, with their rows
       *[fit] laws of one engine's kernels on one card, fitted to one half and judged on the other
    }
    .zh = { $name ->
        [list] 表中的算子、卡与引擎及其行数
       *[fit] 一种引擎在一种卡上的算子规律，用一半拟合、用另一半检验
    }

help-tables =
    .en = a file or folder of tables, or the systems/data of a package
    .zh = 表的文件或目录，或某个软件包的 systems/data

help-operator =
    .en = only this one
    .zh = 只看此项

help-card =
    .en = only this one, such as { $example }
    .zh = 只看此项，例如 { $example }

help-output =
    .en = write what was fitted as a file of params/fits/: of one card and one engine
    .zh = 把拟合结果写成 params/fits/ 的文件：一种卡与一种引擎

help-source =
    .en = key of params/sources/ that the tables are cited by
    .zh = 引用这些表的 params/sources/ 键

# number: an example
help-date =
    .en = of the tables, such as 2026-10
    .zh = 表的日期，例如 2026-10

help-of =
    .en = what the tables are of, such as a package with its version; their place, unless given
    .zh = 表的来历，例如软件包及其版本；不给则为其位置

not-in-catalogue =
    .en = { $card } (not in the catalogue)
    .zh = { $card }（不在目录中）

rows-of =
    .en = { $rows } { $one ->
        [yes] row
       *[no] rows
    } of { $operators } { $single ->
        [yes] operator
       *[no] operators
    }.
    .zh = { $operators } 种算子，共 { $rows } 行。

one-card-one-engine =
    .en = a fit is of one card and one engine, expected --card and --engine
    .zh = 一次拟合只针对一种卡与一种引擎，应给出 --card 与 --engine

cites =
    .en = a file of fits cites its tables, expected --source and --date
    .zh = 拟合文件须注明表的出处，应给出 --source 与 --date

no-device =
    .en = '{ $card }' has no file in params/devices/, whose peaks a law needs
    .zh = '{ $card }' 在 params/devices/ 中没有文件，而规律需要其峰值

no-law =
    .en = no table of { $engine } on { $card } has a law
    .zh = { $card } 上没有 { $engine } 的表可用规律拟合

file-written =
    .en = { $path } written.
    .zh = 已写入 { $path }。

# number: the ninetieth percentile
title =
    .en = { $name ->
        [release] release
        [dtype] dtype
        [judged] judged
        [ninety] 90%
       *[lean] lean
    }
    .zh = { $name ->
        [release] 版本
        [dtype] 数据类型
        [judged] 检验行数
        [ninety] 90%
       *[lean] 偏向
    }
