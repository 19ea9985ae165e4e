### Why a deployment does not run as asked, and the nearest one that does, found by trying.

precision =
    .en = precision { $precision }
    .zh = 精度 { $precision }

workload =
    .en = { $key ->
        [max_num_batched_tokens] prompt chunks of { $count } tokens
        [concurrency] { $count } requests at once
        [draft_tokens] { $count } drafted tokens
       *[context_tokens] a context of { $count } tokens
    }
    .zh = { $key ->
        [max_num_batched_tokens] 预填充分块 { $count } token
        [concurrency] 同时 { $count } 个请求
        [draft_tokens] MTP 投机 { $count } token
       *[context_tokens] 上下文 { $count } token
    }

it-runs-with-per-device =
    .en = It runs{ $same ->
        [yes] { " " }on the same cards
       *[no] { "" }
    } with { $changes }: { $spare } per device to spare, { $kind ->
        [prompts] { $prompts } of prompts
        [answers] first token after { $first }, then one every { $each }
       *[tokens] a token every { $each }
    }, at central values.
    .zh = { $same ->
        [yes] 同样的卡，
       *[no] { "" }
    }改为{ $spaced ->
        [yes] { " " }
       *[no] { "" }
    }{ $changes }，即可运行：每卡余 { $spare }，{ $kind ->
        [prompts] prompt 吞吐 { $prompts }
        [answers] 首 token { $first }，此后每 token { $each }
       *[tokens] 每 token { $each }
    }（按中心值）。
