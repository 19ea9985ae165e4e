### Which formats run on a card, by which engine's kernel and from which release on, with sources.

native =
    .en = native
    .zh = 原生

weights-widened =
    .en = weights dequantised
    .zh = 反量化

no-engine-runs-on-this-card =
    .en = No engine of the catalogue is known to run on this card: its file states no architecture of which kernels are known here.
    .zh = 目录中没有已知能在该卡上运行的引擎：其文件未给出此处已知算子的架构。

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
    .en = none: { $instead } instead
    .zh = 无（改用 { $instead }）

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
