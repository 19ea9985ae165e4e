### Start-up logs beside predictions of memory.

group =
    .en = engine and attention
    .zh = 引擎与注意力

logs =
    .en = logs
    .zh = 日志数

figures =
    .en = figures
    .zh = 数值个数

near =
    .en = within { $share }, before → now
    .zh = 误差不超过 { $share }，改前 → 现在

far =
    .en = off by more than { $factor }×, before → now
    .zh = 相差超过 { $factor } 倍，改前 → 现在

covered =
    .en = in the interval, before → now
    .zh = 落入区间，改前 → 现在

by-group =
    .en = By engine and kind of attention, nothing set on the log
    .zh = 按引擎与注意力种类（未用于定值的日志）

log =
    .en = log
    .zh = 日志

figure =
    .en = its worst figure
    .zh = 最差的一项

printed =
    .en = printed
    .zh = 打印值

ratio-before =
    .en = ratio before
    .zh = 改前之比

ratio-now =
    .en = ratio now
    .zh = 现在之比

term-that-differs =
    .en = term that differs
    .zh = 相差的一项

not-printed =
    .en = not printed
    .zh = 未打印

all-inside =
    .en = none, all inside
    .zh = 无，均在区间内

other-logs =
    .en = The other logs
    .zh = 其余日志

why-not-compared =
    .en = why
    .zh = 原因

not-compared =
    .en = Logs that are not compared, and why
    .zh = 未参与比较的日志与原因

reason =
    .en = { $name ->
        [fork] a fork, or a modified build of the engine
        [card] the card is not named, or not in the catalogue
        [release] the release is not known, as of a branch or an unpublished image, or its engine is older than described
        [layout] model, layout or share of the memory not stated
        [no-figure] no figure as the engine printed it, or not of which card
        [repeat] the same set-up, started again
        [offload] a part of the weights or of the cache in the host's memory
        [model] weights in a format that the catalogue lacks
        [shared-card] other programs on the card
       *[contradictory] contradicts its own flags or figures
        }
    .zh = { $name ->
        [fork] 引擎的分支，或改动过的构建
        [card] 卡未写明，或目录中没有
        [release] 版本不明（开发分支、未发布的镜像），或引擎早于本书所述
        [layout] 模型、并行方式或显存比例未写明
        [no-figure] 没有引擎打印的原始数值，或未写明是哪张卡
        [repeat] 同一设置再次启动
        [offload] 部分权重或缓存放在主机内存
        [model] 权重格式目录中没有
        [shared-card] 卡上另有其他程序
       *[contradictory] 与自身的设置或数值矛盾
        }

before =
    .en = before
    .zh = 改前

now-nothing-set =
    .en = now, nothing set on the log
    .zh = 现在，未用于定值

now-value-set =
    .en = now, a value set on it
    .zh = 现在，曾用于定值

predicted-over-printed =
    .en = predicted over printed
    .zh = 预测 ÷ 打印值

not-predicted =
    .en = { $figures } { $figures ->
        [one] figure
       *[other] figures
        } of { $logs } { $logs ->
        [one] log
       *[other] logs
        } have no prediction: the catalogue refuses the layout, although it ran.
    .zh = { $logs } 份日志的 { $figures } 个数没有预测：目录拒绝其布局，而它确曾运行。
