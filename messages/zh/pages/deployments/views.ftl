### Three views of a deployment side by side: what is printed, what follows, what was measured.

per-replica = （每副本）
per-card = （每卡）
per-layer = （每层）
its-formula-its-inputs = 其公式代入其输入
derived = 推导
given-derived = 文档或实测 / 推导
documented-is-what-document-prints = “文档”是文档给出的数。
its-formula-its-inputs-is = “其公式代入其输入”是文档自己的公式代入自己的输入所得。
# number: the intervals of all answers
derived-is-what-this-book = “推导”是把[有来源的输入]({ $inputs })代入本书公式所得，附 80% 区间。
measured-is-of-same-workload = “实测”取同一负载；与之并列的推导值针对该次测试的过程。
given-derived-is-number-over = “文档或实测 / 推导”是{ $given }的数除以推导值。
input = 输入量
exact = 精确
no-range = 无区间
document-prints-no-result-for = 文档没有给出这一部署的结果。
no-document-describes-this-deployment = 没有文档描述这一部署。
end-to-end-latency-cannot = 端到端延迟无法推导：输入与输出的长度未给出。
decode-pool-has-no-first = 解码池没有首 token 延迟：prompt 在别处预填充。
there-is-no-decode-run = 没有解码：运行到首 token 为止。
we-know-of-no-published = 目前未见这一部署的公开实测。
or = 或
parts-in-labels = 副本, 单卡, 每卡, 层
