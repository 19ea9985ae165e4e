### What the chapter on growth shows: the best layout of each number of cards, and two pools.

memory =
    .en = memory
    .zh = 显存

requests-of-engine =
    .en = requests of the engine
    .zh = 引擎并发上限

compute =
    .en = compute
    .zh = 计算

links =
    .en = links
    .zh = 互联

host =
    .en = host
    .zh = 主机

launches =
    .en = launches
    .zh = 下发

rates-of-card =
    .en = **{ $card }**: { $rates }
    .zh = **{ $card }**：{ $rates }

rate-in-one-pool =
    .en = in one pool, without DCP, { $rate } output tokens/s per card on { $cards } cards, at best { $most } on { $most_cards } ({ $layout }{ $way })
    .zh = 单池（不用 DCP）{ $cards } 卡时每卡 { $rate } token/s，最高 { $most }（{ $most_cards } 卡，{ $layout }{ $way }）

rate-of-any-number =
    .en = in one pool, without DCP, { $most } output tokens/s per card on { $cards } cards or more, nearly the same at every size ({ $layout }{ $way })
    .zh = 单池（不用 DCP）{ $cards } 卡及以上每卡都约 { $most } token/s（{ $layout }{ $way }）

rate-in-two-pools =
    .en = ; in two pools up to { $most } on { $cards } cards
    .zh = ；分两池最高 { $most }（{ $cards } 卡）

several-servers-never-pay =
    .en = ; spreading experts over servers never pays.
    .zh = ；专家跨服务器始终不划算。

several-servers-pay =
    .en = ; spreading experts over servers pays from { $cards } cards.
    .zh = ；自 { $cards } 卡起，专家跨服务器才划算。

best-in-one-pool =
    .en = best in one pool
    .zh = 单池最优布局

in-flight =
    .en = in flight, an arrival included
    .zh = 在途请求（含新到者）

step-bound-by =
    .en = step bound by
    .zh = 单步的瓶颈

two-pools-prefill-decode =
    .en = two pools: prefill + decode
    .zh = 两池：预填充 + 解码（组数 × 卡数）

gain =
    .en = gain
    .zh = 增益

every-number-of-cards =
    .en = Every number of cards
    .zh = 全部卡数

in-closed-form-which-simulation =
    .en = { $mark } In closed form, which a simulation need not confirm there: { $doubts }.
    .zh = { $mark } 此处为闭式结果，仿真未必与之一致：{ $doubts }。

drafts-and-halves =
    .en = { $drafts ->
        [0] { "" }
        [one] , { $drafts } MTP token
       *[other] , { $drafts } MTP tokens
    }{ $halves ->
        [yes] , two micro-batches
       *[no] { "" }
    }
    .zh = { $drafts ->
        [0] { "" }
       *[other] ，MTP 投机 { $drafts } 个 token
    }{ $halves ->
        [yes] ，双 micro-batch
       *[no] { "" }
    }

one-pool =
    .en = one pool
    .zh = 单池

two-pools-experts-in-one =
    .en = two pools, experts in one server
    .zh = 两池，专家不出服务器

two-pools =
    .en = two pools
    .zh = 两池

output-tokens-s-per-card =
    .en = output tokens/s per card, within limits
    .zh = 限值内每卡输出 token/s
