### ``discrepancy``: the formulas' own error by class of systems; ``--write`` stores it.

help-write =
    .en = store it in params/discrepancies, for the intervals of all answers
    .zh = 存入 params/discrepancies，供全部回答的区间使用

# only in .en: $plain
column =
    .en = { $plain }
    .zh = { $name ->
        [class] 类别
        [quantity] 量
        [systems] 系统数
        [rows] 行数
        [below] 偏低
        [above] 偏高
        [within] 类内
        [inside] 区间内
       *[high-low] 高/低
    }

growth =
    .en = { $metric }, { $load }: the error grows by { $down } below and { $up } above with a doubling beyond what was measured; { $pairs } pairs of rows of { $systems } systems, { $inside } of them in what the other systems give.
    .zh = { $metric }，{ $load }：超出实测范围每翻一倍，误差向下增加 { $down }、向上增加 { $up }；{ $systems } 个系统的 { $pairs } 对行，其中 { $inside } 落在其他系统所给范围内。
