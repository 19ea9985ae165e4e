### An answer of ``search`` in words: a deployment, its quantities, what runs and starts it.

head =
    .en = { $name ->
        [throughput_per_card] per card
        [throughput] throughput
        [ttft] TTFT
        [tpot] TPOT
        [e2e] latency
        [cost] cost per million output tokens (all charged to them, cards always busy)
        [power] power
        [energy] energy
        [longest_context] longest context
       *[other] { $name }
    }
    .zh = { $name ->
        [throughput_per_card] 每卡吞吐
        [throughput] 吞吐
        [ttft] TTFT
        [tpot] TPOT
        [e2e] 端到端延迟
        [cost] 每百万输出 token 成本（全计入输出，卡满载）
        [power] 功率
        [energy] 能耗
        [longest_context] 最长上下文
       *[other] { $name }
    }

cost =
    .en = cost
    .zh = 成本

agent-cost =
    .en = , { $processed } per million processed tokens (input and output), { $task } a task of { $turns ->
        [one] one turn
       *[other] { $turns } turns
    }
    .zh = ，每百万处理 token（输入与输出）{ $processed }，每个任务（{ $turns } 轮）{ $task }

two-pools =
    .en = { $devices } cards in two pools: prefill { $prefill }; decode { $decode }, { $requests } in flight
    .zh = { $devices } 张卡分两个池：预填充 { $prefill }；解码 { $decode }，并发 { $requests }

one-pool =
    .en = { $pool }, { $requests } in flight
    .zh = { $pool }，并发 { $requests }

brief-pool =
    .en = { $devices } × { $device }{ $named ->
        [yes] { " " }under { $engine }
       *[no] { "" }
    }, { $precision }, { $layout }, chunks of { $chunk }{ $steps }
    .zh = { $devices } × { $device }{ $named ->
        [yes] ，{ $engine }
       *[no] { "" }
    }，{ $precision }，{ $layout }，分块 { $chunk }{ $steps }

steps =
    .en = { $drafting ->
        [yes] , { $drafts } { $method ->
            [eagle3] { $one ->
                [yes] EAGLE-3 draft
               *[no] EAGLE-3 drafts
            }
            [dspark] { $one ->
                [yes] DSpark draft
               *[no] DSpark drafts
            }
           *[own] { $one ->
                [yes] MTP token
               *[no] MTP tokens
            }
        }
       *[no] { "" }
    }{ $dealt ->
        [yes] , prefill CP
       *[no] { "" }
    }{ $halves ->
        [yes] , two micro-batches
       *[no] { "" }
    }
    .zh = { $drafting ->
        [yes] ，{ $method ->
            [eagle3] EAGLE-3
            [dspark] DSpark
           *[own] MTP
        } 投机 { $drafts }
       *[no] { "" }
    }{ $dealt ->
        [yes] ，预填充 CP
       *[no] { "" }
    }{ $halves ->
        [yes] ，双 micro-batch 交替
       *[no] { "" }
    }

of-a-choice =
    .en = { $devices } × { $device }, { $precision }, { $layout }{ $steps }
    .zh = { $devices } × { $device }，{ $precision }，{ $layout }{ $steps }

brief =
    .en = { $pools }: TPOT { $pace }, TTFT { $first }, { $rate } per card{ $priced ->
        [yes] , { $cost } per million
       *[no] { "" }
    }; { $told }
    .zh = { $pools }：TPOT { $pace }，TTFT { $first }，每卡 { $rate }{ $priced ->
        [yes] ，每百万 token { $cost }
       *[no] { "" }
    }；{ $told }

none-starts =
    .en = no release starts it: { $why }
    .zh = 没有版本能启动它：{ $why }

start-with =
    .en = start with: python -m calc deploy { $file } --engine { $engine } -o DIR{ $known ->
        [yes] { " " }(checkpoint: { $checkpoint })
       *[no] { "" }
    }
    .zh = 启动：python -m calc deploy { $file } --engine { $engine } -o DIR{ $known ->
        [yes] （权重：{ $checkpoint }）
       *[no] { "" }
    }

of-format =
    .en = { $name }: { $told }
    .zh = { $name }：{ $told }

none-runs =
    .en = NO ENGINE RUNS IT: { $why }
    .zh = 没有引擎能运行它：{ $why }

format-runs =
    .en = { $alone ->
        [yes] its format
       *[no] { $name }
    } { $told }
    .zh = { $alone ->
        [yes] 其格式
       *[no] { $name }{ " " }
    }{ $told }

nothing-near =
    .en = Nothing was measured of its kind.
    .zh = 同类系统没有实测。

outside-of =
    .en = { $axis } ({ $value }; measured { $ends })
    .zh = { $axis }（{ $value }；实测 { $ends }）

near =
    .en = Measured nearest: { $nearest }; { $beyond ->
        [yes] outside the measured range: { $outside }
       *[no] within the measured range on every axis
    }{ $also ->
        [yes] ; inside: { $inside }
       *[no] { "" }
    }.
    .zh = 最近的实测：{ $nearest }；{ $beyond ->
        [yes] 超出实测范围：{ $outside }
       *[no] 各轴均在实测范围内
    }{ $also ->
        [yes] ；在范围内：{ $inside }
       *[no] { "" }
    }。
