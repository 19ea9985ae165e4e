### What releases of engines run of a precision on a card: the tables of ``params/kernels/``.

and-later = { $engine } { $since } 及以后版本
from-to =
    { $engine } { $since }{ $several ->
        [yes] { " " }至 { $until }
       *[no] { "" }
    }
# number: bits of the format that weights are widened to
runs-on =
    运行于 { $releases }，算子 { $kernel }{ $widened ->
        [yes] ，权重展开为 16 位
       *[no] { "" }
    }{ $noted ->
        [yes] ；{ $note } [{ $source }]
       *[no] { "" }
    }
# number: bits of the format that weights are widened to
kernel-of =
    { $kernel }（{ $releases }{ $widened ->
        [yes] ，权重展开为 16 位
       *[no] { "" }
    }）
# stacks: software of cards, such as cuda
written-for = 仅面向 { $stacks }
no-class = { $first } 之前没有 { $model_class } 类
no-kernel = 没有算子

## What a format costs in quality: published scores beside those of the published weights.

published-weights = 官方发布的权重
published-weights-widened-without-loss = 官方发布的权重，无损反量化
of-relative = （同族 { $weights }）
quality-against-points = 质量：{ $benchmark } { $solved }，官方权重 { $reference }，{ $difference } 分{ $of }
none-beside-published-weights-is = 无与官方权重对照的公开分数
quality = 质量：{ $none }
quality-scores = 质量：{ $scores }；{ $none }
quality-points-against = 质量：{ $benchmark } 较 { $against } { $difference } 分；{ $none }
