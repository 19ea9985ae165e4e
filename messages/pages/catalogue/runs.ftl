### Which formats run on a card, by which engine's kernel and from which release on, with sources.

native =
    .en = native
    .zh = 原生

weights-widened =
    .en = weights dequantised
    .zh = 反量化

no-engine-runs-on-this-card =
    .en = No kernels of an engine are known for this card: its file states no architecture that a table names. Times are those of its class of cards, in wide ranges.
    .zh = 尚无引擎在该卡上的算子资料：其文件未给出算子表中的架构。时间按同类卡计算，区间较宽。

engine-releases =
    .en = engine, releases
    .zh = 引擎与版本

how =
    .en = how
    .zh = 方式

kernel-of-experts =
    .en = kernel of the experts
    .zh = 专家层算子

no-kernel-instead =
    .en = none: { $instead }
    .zh = 无：{ $instead }

of-what =
    .en = of
    .zh = 对象

multiplied-in =
    .en = multiplied in
    .zh = 相乘类型

which-formats-an-engine-loads =
    .en = Which formats { $engine } loads on which cards, by which kernel
    .zh = { $engine } 在哪些卡上加载哪些格式，由哪个算子

beginning-of-what-is-told =
    .en = quality:{ " " }
    .zh = 质量：

published =
    .en = score against the published weights
    .zh = 公开分数

answer =
    .en = starts?
    .zh = 能否启动

answer-of =
    .en = { $verdict ->
        [runs] runs
        [refuses] refuses
       *[unknown] not known
    }
    .zh = { $verdict ->
        [runs] 可运行
        [refuses] 拒绝
       *[unknown] 未知
    }

format-of-checkpoint =
    .en = format of a checkpoint
    .zh = 公开权重的格式

by-what =
    .en = by which kernel, since when; or why not
    .zh = 所用算子与起始版本，或拒绝的原因

nothing-of =
    .en = no source speaks of { $parts }
    .zh = 没有来源提及：{ $parts }
