### Why a deployment does not run as asked, and the nearest one that does, found by trying.

precision = 精度 { $precision }
workload =
    { $key ->
        [max_num_batched_tokens] 预填充分块 { $count } token
        [concurrency] 同时 { $count } 个请求
        [draft_tokens] MTP 投机 { $count } token
       *[context_tokens] 上下文 { $count } token
    }
it-runs-with-per-device =
    { $same ->
        [yes] 同样的卡，
       *[no] { "" }
    }改用以下设置即可运行（{ $changes }）：每卡余 { $spare }，{ $kind ->
        [prompts] prompt 吞吐 { $prompts }
        [answers] 首 token { $first }，此后每 token { $each }
       *[tokens] 每 token { $each }
    }（按中心值）。
