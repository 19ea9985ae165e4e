### The standard question: what is asked, and a layout in short.

drafts =
    .en = { $count } MTP token
    .zh = MTP 投机 { $count } 个 token

conditions =
    .en = { $users } users at once, { $input } input and { $output } output tokens on average, lengths as in public traces, steady state, at most { $drafts } MTP token a step
    .zh = { $users } 个并发用户，平均输入 { $input }、输出 { $output } token，长度分布取自公开流量，稳态，每步 MTP 投机至多 { $drafts } 个 token
