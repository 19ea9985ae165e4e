### What a format costs in quality: published scores beside those of the published weights.

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
