### A deployment's answer in sentences: does it work, how far off is it, why, what a user gets.

prompt-throughput =
    .en = prompt throughput
    .zh = 输入吞吐

it-fits-but-this-card =
    .en = **It fits, but this card cannot run it in the precision asked for**
    .zh = **装得下，但这种卡不能按所要求的精度运行**

it-fits-with-to-spare =
    .en = **It fits**, with { $spare } to spare on the fullest card{ $unsure ->
        [yes] { " " }(over the ranges of all inputs in { $often } of the draws)
       *[no] { "" }
    }
    .zh = **装得下**，显存占用最大的卡还余 { $spare }{ $unsure ->
        [yes] （各输入在区间内取值时，{ $often } 的抽样装得下）
       *[no] { "" }
    }

it-does-not-run =
    .en = **It does not run as asked**: { $why }
    .zh = **无法照此运行**：{ $why }

nor-can-card-run-it =
    .en = , nor can the card run it in this precision
    .zh = ，这种卡也不能按此精度运行

it-does-not-fit-times =
    .en = **It does not fit**: { $alone ->
        [yes] weights alone come to { $needed } per card
       *[no] a card would have to hold { $needed }
    }, { $factor } times the { $usable } that an engine may use{ $also }
    .zh = **装不下**：{ $alone ->
        [yes] 单卡仅权重
       *[no] 显存占用最大的卡
    }就要占 { $needed }，是引擎可用的 { $usable } 的 { $factor } 倍{ $also }

is-bound-by =
    .en = ; { $kind } is bound by { $bound }
    .zh = ；{ $kind }主要受限于{ $bound }

document-prints-times-that =
    .en = ; the document { $aims ->
        [yes] aims at
       *[no] prints
    } { $text }{ $each }, { $less ->
        [yes] { $share } of that
       *[no] { $share } times that
    }
    .zh = ；文档{ $aims ->
        [yes] 的目标是
       *[no] 写
    }{ $each } { $text }，{ $less ->
        [yes] 仅为估计值的 { $share }
       *[no] 是估计值的 { $share } 倍
    }

were-measured-within-of-it =
    .en = ; { $text } were measured, within { $same } of the estimate for that run
    .zh = ；实测 { $text }，与对该次测试的估计相差不到 { $same }

were-measured-so-it-is =
    .en = ; { $text } were measured{ $outside ->
        [yes] , outside the interval
       *[no] { "" }
    }; the estimate for that run, { $ours }, is { $size } too { $off_above ->
        [yes] high
       *[no] low
    }
    .zh = ；实测 { $text }{ $outside ->
        [yes] ，超出区间
       *[no] { "" }
    }，对该次测试的估计为 { $ours }，偏{ $off_above ->
        [yes] 高
       *[no] 低
    } { $size }

measured-outside-interval =
    .en = { $kind } { $single ->
        [yes] { "" }
       *[no] in { $outside } of { $rows } runs, { $above ->
            [yes] up to
           *[no] down to
        }{ " " }
    }{ $ratio } times the prediction
    .zh = { $kind }{ $single ->
        [yes] 为
       *[no] ：{ $rows } 次中 { $outside } 次，{ $above ->
            [yes] 最多为
           *[no] 最少为
        }
    }预测的 { $ratio } 倍

measured-values-lie-outside =
    .en = **Measured outside its predicted interval**: { $told }.
    .zh = **实测超出预测区间**：{ $told }。

there-is-room-for-requests =
    .en = There is room for { $room } requests of { $length } tokens at once; { $many } { $single ->
        [yes] is
       *[no] are
    } asked for.
    .zh = 可同时容纳 { $room } 个长 { $length } token 的请求，要求是 { $many } 个。

prompt-and-answer-lengths-are =
    .en = { $speed } Prompt and answer lengths are not stated: the first token follows a prompt of { $prompt } tokens; decode is counted alone, at { $decoded } tokens of context and without stalls from other requests' prefill.
    .zh = { $speed }输入与输出的长度未给出：首 token 按 { $prompt } token 的输入计；此后只计解码，上下文恒取 { $decoded } token，不含其他请求预填充造成的停顿。

of-requests-in-flight =
    .en = In a steady state of { $requests } requests in flight, each
    .zh = 稳态在途 { $requests } 个请求时，平均每个

sent-at-once =
    .en = Sent all at once (a burst), each
    .zh = 若同时发出（突发），平均每个

in-a-benchmark =
    .en = A benchmark with `--max-concurrency { $requests }`, which starts with such a burst, shows the mean: each
    .zh = 用 `--max-concurrency { $requests }` 压测（开头即为这样的突发），均值为：每个

of-requests-that-arrive-at =
    .en = Of { $requests } requests that arrive at once, each
    .zh = { $requests } 个请求同时到达时，平均每个

each-of-requests =
    .en = Each of { $requests } requests
    .zh = { $requests } 个请求各自

single-request =
    .en = A single request
    .zh = 单个请求

reading-weights-and-cache-alone =
    .en = Reading weights and cache alone takes at least { $text } per token.
    .zh = 仅读取权重与缓存，每个 token 就至少要 { $text }。

estimated-at =
    .en = ; { $short ->
        [yes] with enough memory the { $kind } would be
       *[no] the { $kind } is estimated at
    } **{ $value }** ({ $reach })
    .zh = ；{ $short ->
        [yes] 若显存足够，
       *[no] { "" }
    }{ $kind }估计为 **{ $value }**（{ $reach }）

times-are-hypothetical =
    .en = Times of this deployment are hypothetical: they assume the same layout on cards that differ only in having enough memory.
    .zh = 这一部署的各项时间均为假想值：假设卡的显存足够，其余不变，切分照旧。

waits-for-first-token =
    .en = waits { $value } for its first token{ $many ->
        [yes] { " " }on average
       *[no] { "" }
    }
    .zh = 要等 { $value }得到首 token

gets-token-every =
    .en = { $first ->
        [yes] and gets a further one
       *[no] gets a token
    } every { $value }
    .zh = { $first ->
        [yes] ，此后
       *[no] { "" }
    }每 { $value }得到一个 token

together =
    .en = ; together { $value }{ $output ->
        [yes] { "" }
       *[no] { " " }of prompts
    }.
    .zh = ；合计{ $output ->
        [yes] { "" }
       *[no] 处理输入
    } { $value }。

that-is =
    .en = : { $value }.
    .zh = ，即 { $value }。
