### How many deployments a search left out, and at which bound; every one is counted once.

bound =
    { $name ->
        [unknown] 没有来源说明有引擎能在该卡上运行的精度
        [unpublished] 未见有公开权重的精度（--any-format 可纳入）
        [widened] 把公开权重放宽的精度：该卡可直接运行公开权重（--any-format 可纳入）
        [unpriced] 没有价格、无法计算成本的卡
        [quality] 公开分数达不到所求质量的精度
        [pipeline] 流水线超过 { $most } 级或在机内切分流水线的方案（space.pipeline 可纳入）
        [memory] 显存装不下
        [pace] 只计解码步就已违反某项限值
        [objective] 即使不计预填充也不优于已有方案
        [saturated] 吞吐跟不上请求
        [limits] 完整计算后违反某项限值
        [beaten] 满足限制，但被其他方案支配
       *[front] 位于前沿
    }
