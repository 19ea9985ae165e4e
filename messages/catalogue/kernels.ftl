### Which published checkpoint a deployment starts with.

either =
    .en = { $one } or { $other }
    .zh = { $one } 或 { $other }

preview =
    .en = { $one }, the preview, whose own layer drafts; that of the official { $other } does not
    .zh = { $one }（预览版，其 MTP 层可起草；正式版 { $other } 的不可）

of-sister =
    .en = { $one }, weights of { $of }, which has the same shapes
    .zh = { $one }（形状相同的 { $of } 的权重）

### What releases of engines run of a precision on a card: the tables of ``params/kernels/``.

and-later =
    .en = { $engine } { $since } and later
    .zh = { $engine } { $since } 及以后版本

from-to =
    .en = { $engine } { $since }{ $several ->
        [yes] { " " }to { $until }
       *[no] { "" }
    }
    .zh = { $engine } { $since }{ $several ->
        [yes] { " " }至 { $until }
       *[no] { "" }
    }

# number: bits of the format that weights are widened to
runs-on =
    .en = runs on { $releases }, { $kernel }{ $widened ->
        [yes] , weights dequantised to 16 bits
       *[no] { "" }
    }{ $noted ->
        [yes] ; { $note } [{ $source }]
       *[no] { "" }
    }
    .zh = 运行于 { $releases }，算子 { $kernel }{ $widened ->
        [yes] ，权重展开为 16 位
       *[no] { "" }
    }{ $noted ->
        [yes] ；{ $note } [{ $source }]
       *[no] { "" }
    }

# number: bits of the format that weights are widened to
kernel-of =
    .en = { $kernel } ({ $releases }{ $widened ->
        [yes] , weights dequantised to 16 bits
       *[no] { "" }
    })
    .zh = { $kernel }（{ $releases }{ $widened ->
        [yes] ，权重展开为 16 位
       *[no] { "" }
    }）

# stacks: software of cards, such as cuda
written-for =
    .en = written for { $stacks }
    .zh = 仅面向 { $stacks }

no-class =
    .en = no class { $model_class } before { $first }
    .zh = { $first } 之前没有 { $model_class } 类

no-kernel =
    .en = no kernel
    .zh = 没有算子

## What a format costs in quality: published scores beside those of the published weights.

published-weights =
    .en = published weights
    .zh = 官方发布的权重

published-weights-widened-without-loss =
    .en = published weights, dequantised without loss
    .zh = 官方发布的权重，无损反量化

of-relative =
    .en = { " " }of a relative ({ $weights })
    .zh = （同族 { $weights }）

quality-against-points =
    .en = quality: { $benchmark } { $solved } against { $reference }, { $difference } points{ $of }
    .zh = 质量：{ $benchmark } { $solved }，官方权重 { $reference }，{ $difference } 分{ $of }

none-beside-published-weights-is =
    .en = no published score against the original weights
    .zh = 无与官方权重对照的公开分数

quality =
    .en = quality: { $none }
    .zh = 质量：{ $none }

quality-scores =
    .en = quality: { $scores }; { $none }
    .zh = 质量：{ $scores }；{ $none }

quality-points-against =
    .en = quality: { $benchmark } { $difference } points against { $against }; { $none }
    .zh = 质量：{ $benchmark } 较 { $against } { $difference } 分；{ $none }
