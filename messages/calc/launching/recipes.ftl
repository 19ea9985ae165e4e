### A deployment's flags beside the published recipe of its model and card.

beside =
    .en = beside the recipe { $recipe }{ $pool ->
        [serve] { "" }
       *[other] { " " }({ $pool } pool)
    } ({ $url }, { $date }): { $more } more, { $fewer } fewer, { $other } other values: see { $file }
    .zh = 对照官方配方 { $recipe }{ $pool ->
        [serve] { "" }
        [prefill] （预填充池）
       *[other] （解码池）
    }（{ $url }，{ $date }）：多设 { $more } 项，少设 { $fewer } 项，取值不同 { $other } 项，详见 { $file }

of-recipe =
    .en = The recipe is for { $count } × { $cards }, weights as in { $precision }{ $named ->
        [yes] { " " }({ $checkpoint })
       *[no] { "" }
    }{ $known ->
        [yes] , release { $release } or later
       *[no] { "" }
    }.
    .zh = 该配方用于 { $count } × { $cards }，权重格式 { $precision }{ $named ->
        [yes] （{ $checkpoint }）
       *[no] { "" }
    }{ $known ->
        [yes] ，引擎版本 { $release } 及以上
       *[no] { "" }
    }。

none =
    .en = no published recipe of this engine is known for the model on such cards
    .zh = 未见该引擎在此类卡上部署该模型的官方配方

none-of-pool =
    .en = no published recipe is known for the { $pool } pool
    .zh = { $pool ->
        [prefill] 预填充池
       *[other] 解码池
    }未见官方配方

release-lacks =
    .en = { $release } has no such setting
    .zh = { $release } 已无此设置

by-default =
    .en = the default of { $release }
    .zh = { $release } 的默认值

because =
    .en = { $cause ->
        [layout] layout that the plan chose
        [limits] lengths and limits of the plan
        [kernels] predictions rest on this format or kernel
        [steps] how the plan fills steps
        [drafts] drafts of the plan
        [pools] pools of the plan
        [chat] parsers of answers
        [monitoring] monitoring
       *[other] feature of the plan
    }: { $why }
    .zh = { $cause ->
        [layout] 方案所选的并行方式
        [limits] 方案的长度与上限
        [kernels] 预测以该格式或内核为准
        [steps] 方案的组批与单步执行方式
        [drafts] 方案的草稿设置
        [pools] 方案的预填充池与解码池
        [chat] 输出解析
        [monitoring] 监控
       *[other] 方案启用的功能
    }（{ $why }）
