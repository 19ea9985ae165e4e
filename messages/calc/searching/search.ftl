### How many deployments a search left out, and at which bound; every one is counted once.

precisions-whose-published-scores-do =
    .en = precisions whose published scores do not keep the quality that is asked for
    .zh = 公开分数达不到所求质量的精度

layouts-of-more-than-pipeline =
    .en = layouts of more than { $most } pipeline stages, or of stages inside a server (space.pipeline tries them)
    .zh = 流水线超过 { $most } 级或在机内切分流水线的方案（space.pipeline 可纳入）

do-not-fit-memory =
    .en = do not fit the memory
    .zh = 显存装不下

decode-steps-alone-slower-than =
    .en = decode steps alone already break a limit
    .zh = 只计解码步就已违反某项限值

no-better-than-one-found =
    .en = no better than one found, even without their prompts
    .zh = 即使不计预填充也不优于已有方案

cannot-keep-up-with-what =
    .en = cannot keep up with what is asked
    .zh = 吞吐跟不上请求

computed-and-over-limit =
    .en = computed, and break a limit
    .zh = 完整计算后违反某项限值

within-all-limits-and-another =
    .en = within all limits, and another is better
    .zh = 满足限制，但被其他方案支配

on-front =
    .en = on the front
    .zh = 位于前沿

precisions-unpublished =
    .en = precisions in which no checkpoint of the model is known to be published (--any-format tries them)
    .zh = 未见有公开权重的精度（--any-format 可纳入）

cards-unpriced =
    .en = cards without a price, which no cost can be told of
    .zh = 没有价格、无法计算成本的卡

precisions-unknown =
    .en = precisions of which no source says that an engine runs them on the card
    .zh = 没有来源说明有引擎能在该卡上运行的精度

precisions-widened =
    .en = precisions that widen the published weights, which run on the card as they are (--any-format tries them)
    .zh = 把公开权重放宽的精度：该卡可直接运行公开权重（--any-format 可纳入）
