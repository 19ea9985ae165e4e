### Three views of a deployment side by side: what is printed, what follows, what was measured.

per-replica =
    .en = , per replica
    .zh = （每副本）

per-card =
    .en = , per card
    .zh = （每卡）

per-layer =
    .en = , per layer
    .zh = （每层）

its-formula-its-inputs =
    .en = its formula, its inputs
    .zh = 其公式代入其输入

derived =
    .en = derived
    .zh = 推导

given-derived =
    .en = given / derived
    .zh = 文档或实测 / 推导

documented-is-what-document-prints =
    .en = *Documented* is what a document prints.
    .zh = “文档”是文档给出的数。

its-formula-its-inputs-is =
    .en = *Its formula, its inputs* is what the document's own formula gives on its own inputs.
    .zh = “其公式代入其输入”是文档自己的公式代入自己的输入所得。

# number: the intervals of all answers
derived-is-what-this-book =
    .en = *Derived* is what this book's formulas give on [sourced inputs]({ $inputs }), with an 80% interval.
    .zh = “推导”是把[有来源的输入]({ $inputs })代入本书公式所得，附 80% 区间。

measured-is-of-same-workload =
    .en = *Measured* is of the same workload; what is derived beside it is of the run that was made.
    .zh = “实测”取同一负载；与之并列的推导值针对该次测试的过程。

given-derived-is-number-over =
    .en = *Given / derived* is the { $given } number over the derived one.
    .zh = “文档或实测 / 推导”是{ $given }的数除以推导值。

input =
    .en = an input
    .zh = 输入量

exact =
    .en = exact
    .zh = 精确

no-range =
    .en = no range
    .zh = 无区间

document-prints-no-result-for =
    .en = The document prints no result for this deployment.
    .zh = 文档没有给出这一部署的结果。

no-document-describes-this-deployment =
    .en = No document describes this deployment.
    .zh = 没有文档描述这一部署。

end-to-end-latency-cannot =
    .en = End-to-end latency cannot be derived: prompt and answer lengths are not stated.
    .zh = 端到端延迟无法推导：输入与输出的长度未给出。

decode-pool-has-no-first =
    .en = A decode pool has no first token: prompts are prefilled elsewhere.
    .zh = 解码池没有首 token 延迟：prompt 在别处预填充。

there-is-no-decode-run =
    .en = There is no decode: the run ends with the first token.
    .zh = 没有解码：运行到首 token 为止。

we-know-of-no-published =
    .en = We know of no published measurement of it.
    .zh = 目前未见这一部署的公开实测。

or =
    .en = { " " }or{ " " }
    .zh = 或

parts-in-labels =
    .en = replica, card, device, layer
    .zh = 副本, 单卡, 每卡, 层
