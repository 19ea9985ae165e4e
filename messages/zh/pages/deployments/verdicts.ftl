### A deployment's answer in sentences: does it work, how far off is it, why, what a user gets.

prompt-throughput = 输入吞吐
it-fits-but-this-card = **装得下，但这种卡不能按所要求的精度运行**
it-fits-with-to-spare = **装得下**，显存占用最大的卡还余 { $spare }{ $unsure ->
        [yes] （各输入在区间内取值时，{ $often } 的抽样装得下）
       *[no] { "" }
    }
it-does-not-run = **无法照此运行**：{ $why }
nor-can-card-run-it = ，这种卡也不能按此精度运行
it-does-not-fit-times = **装不下**：{ $alone ->
        [yes] 单卡仅权重
       *[no] 显存占用最大的卡
    }就要占 { $needed }，是引擎可用的 { $usable } 的 { $factor } 倍{ $also }
is-bound-by = ；{ $kind }主要受限于{ $bound }
document-prints-times-that =
    ；文档{ $aims ->
        [yes] 的目标是
       *[no] 写
    }{ $each } { $text }，{ $less ->
        [yes] 仅为估计值的 { $share }
       *[no] 是估计值的 { $share } 倍
    }
were-measured-within-of-it = ；实测 { $text }，与对该次测试的估计相差不到 { $same }
were-measured-so-it-is =
    ；实测 { $text }{ $outside ->
        [yes] ，超出区间
       *[no] { "" }
    }，对该次测试的估计为 { $ours }，偏{ $off_above ->
        [yes] 高
       *[no] 低
    } { $size }
measured-outside-interval =
    { $kind }{ $single ->
        [yes] 为
       *[no]
            ：{ $rows } 次中 { $outside } 次，{ $above ->
                [yes] 最多为
               *[no] 最少为
            }
    }预测的 { $ratio } 倍
measured-values-lie-outside = **实测超出预测区间**：{ $told }。
there-is-room-for-requests = 可同时容纳 { $room } 个长 { $length } token 的请求，要求是 { $many } 个。
prompt-and-answer-lengths-are = { $speed }输入与输出的长度未给出：首 token 按 { $prompt } token 的输入计；此后只计解码，上下文恒取 { $decoded } token，不含其他请求预填充造成的停顿。
of-requests-in-flight = 稳态在途 { $requests } 个请求时，平均每个
sent-at-once = 若同时发出（突发），平均每个
in-a-benchmark = 用 `--max-concurrency { $requests }` 压测（开头即为这样的突发），均值为：每个
of-requests-that-arrive-at = { $requests } 个请求同时到达时，平均每个
each-of-requests = { $requests } 个请求各自
single-request = 单个请求
reading-weights-and-cache-alone = 仅读取权重与缓存，每个 token 就至少要 { $text }。
estimated-at =
    ；{ $short ->
        [yes] 若显存足够，
       *[no] { "" }
    }{ $kind }估计为 **{ $value }**（{ $reach }）
times-are-hypothetical = 这一部署的各项时间均为假想值：假设卡的显存足够，其余不变，切分照旧。
waits-for-first-token = 要等 { $value }得到首 token
gets-token-every =
    { $first ->
        [yes] ，此后
       *[no] { "" }
    }每 { $value }得到一个 token
together =
    ；合计{ $output ->
        [yes] { "" }
       *[no] 处理输入
    } { $value }。
that-is = ，即 { $value }。
