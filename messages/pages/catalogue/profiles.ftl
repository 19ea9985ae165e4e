### What engines do to a deployment, release by release: the profiles as a table with sources.

how-step-is-filled =
    .en = how a step is filled
    .zh = 每步的调度方式

prompts-and-decodes-together =
    .en = prefill and decode in one step
    .zh = prefill 与解码同处一步

prompts-first =
    .en = prompts first
    .zh = 先做预填充

drafts-in-pipeline-stages =
    .en = speculation across pipeline stages
    .zh = 跨流水线级投机解码

decode-as-captured-graph =
    .en = decode as a captured graph
    .zh = 解码以捕获的图执行

by-default =
    .en = by default
    .zh = 默认开启

not-by-default =
    .en = not by default
    .zh = 默认关闭

with-drafts =
    .en = with speculation
    .zh = 开投机解码

without-drafts =
    .en = without speculation
    .zh = 不开投机解码

sparse-attention-of-groups =
    .en = sparse grouped-query attention
    .zh = 稀疏 GQA

heavily-compressed-entries =
    .en = heavily compressed entries
    .zh = 高倍压缩条目

sparse-attention =
    .en = sparse attention
    .zh = 稀疏注意力

low-latency-all-to-all =
    .en = low-latency all-to-all
    .zh = 低延迟 all-to-all

normal-all-to-all =
    .en = all-to-all in normal mode
    .zh = 普通模式 all-to-all

holds-of =
    .en = applies to
    .zh = 适用

where-values-come-from =
    .en = Where the values come from
    .zh = 取值的来源

default-of-flag =
    .en = default of `{ $flag }`
    .zh = `{ $flag }` 的默认值

tables-below =
    .en = tables below
    .zh = 下文各表

releases-from =
    .en = from { $since }
    .zh = { $since } 起

release-only =
    .en = { $release } only
    .zh = 仅 { $release }

releases-to =
    .en = to { $until }
    .zh = 至 { $until }

what-is-not-set-aside =
    .en = what is not set aside
    .zh = 预留之外的部分
