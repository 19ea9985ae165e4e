### An answer of ``search`` in words: a deployment, its quantities, what runs and starts it.

head =
    .en = { $name ->
        [throughput_per_card] throughput per card
        [throughput] throughput
        [ttft] TTFT
        [tpot] TPOT
        [e2e] latency
        [cost] cost per million output tokens
        [cards] cards
        [power] power
        [energy] energy
        [longest_context] longest context
        [memory_capacity] the memory
       *[other] { $name }
    }
    .zh = { $name ->
        [throughput_per_card] 每卡吞吐
        [throughput] 吞吐
        [ttft] TTFT
        [tpot] TPOT
        [e2e] 端到端延迟
        [cost] 每百万输出 token 成本
        [cards] 卡数
        [power] 功率
        [energy] 能耗
        [longest_context] 最长上下文
        [memory_capacity] 显存
       *[other] { $name }
    }

cost =
    .en = cost
    .zh = 成本

cost-is =
    .en = cost { $cost } per million output tokens
    .zh = 每百万输出 token 成本 { $cost }

agent-cost =
    .en = { $processed } per million processed tokens (input and output), { $task } a task of { $turns ->
        [one] one turn
       *[other] { $turns } turns
    }
    .zh = 每百万处理 token（输入与输出）{ $processed }，每个任务（{ $turns } 轮）{ $task }

two-pools =
    .en = { $cards }: prefill { $prefill }; decode { $decode }, { $requests } in flight
    .zh = { $cards }：预填充 { $prefill }；解码 { $decode }，并发 { $requests }

pools-alike =
    .en = { $first } + { $then } × { $on } in two pools
    .zh = { $first } + { $then } × { $on }，分两个池

pools-apart =
    .en = { $devices } cards in two pools
    .zh = { $devices } 张卡分两个池

one-pool =
    .en = { $pool }, { $requests } in flight
    .zh = { $pool }，并发 { $requests }

brief-pool =
    .en = { $devices } × { $on }, { $own }
    .zh = { $devices } × { $on }，{ $own }

brief-cards =
    .en = { $device }{ $named ->
        [yes] { " " }under { $engine }
       *[no] { "" }
    }, { $precision }
    .zh = { $device }{ $named ->
        [yes] ，{ $engine }
       *[no] { "" }
    }，{ $precision }

own =
    .en = { $layout }{ $chunked ->
        [yes] , chunks of { $chunk }
       *[no] { "" }
    }{ $steps }
    .zh = { $layout }{ $chunked ->
        [yes] ，分块 { $chunk }
       *[no] { "" }
    }{ $steps }

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
    }{ $hosted ->
        [yes] , host cache { $size } GB a server
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
    }{ $hosted ->
        [yes] ，主机缓存每台 { $size } GB
       *[no] { "" }
    }

none-starts =
    .en = no release starts it: { $why }
    .zh = 没有版本能启动它：{ $why }

kernels-and-checkpoints =
    .en = { $first ->
        [yes] { $part ->
            [kernel] kernel
           *[checkpoint] checkpoint
        }{ " " }
       *[no] { "" }
    }{ $name }
    .zh = { $first ->
        [yes] { $part ->
            [kernel] 算子
           *[checkpoint] 权重仓库
        }{ " " }
       *[no] { "" }
    }{ $name }

none-runs =
    .en = NO ENGINE RUNS IT: { $why }
    .zh = 没有引擎能运行它：{ $why }

nothing-near =
    .en = nothing was measured of its kind
    .zh = 同类系统没有实测

outside-of =
    .en = { $axis } { $value }{ $named ->
        [yes] { "" }
       *[no] { " " }(measured { $ends })
    }
    .zh = { $axis } { $value }{ $named ->
        [yes] { "" }
       *[no] （实测 { $ends }）
    }

near =
    .en = nearest measured: { $nearest }{ $other ->
        [yes] { " " }(another model, { $model })
       *[no] { "" }
    }; { $beyond ->
        [yes] outside: { $outside }
       *[no] load, layout, drafts, format and card are within what was measured
    }
    .zh = 最近的实测：{ $nearest }{ $other ->
        [yes] （其他模型：{ $model }）
       *[no] { "" }
    }；{ $beyond ->
        [yes] 超出实测：{ $outside }
       *[no] 负载、切分、投机、格式与卡型均在实测范围内
    }

short =
    .en = { $label }: { $short } per device short
    .zh = { $label }：每卡缺 { $short }

over-a-limit =
    .en = { $label }: { $quantity } { $value }{ $priced ->
        [yes] { " " }{ $currency }
       *[no] { "" }
    }, the limit is { $limit }{ $priced ->
        [yes] { " " }{ $currency }
       *[no] { "" }
    }, off by a factor of { $factor }
    .zh = { $label }：{ $quantity } { $value }{ $priced ->
        [yes] { " " }{ $currency }
       *[no] { "" }
    }，上限为 { $limit }{ $priced ->
        [yes] { " " }{ $currency }
       *[no] { "" }
    }，相差 { $factor } 倍
