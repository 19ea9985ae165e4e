### ``estimate --engines``: one deployment under several engines, side by side.

# number: an example
two-engines =
    .en = --engines { $text }: expected two engines or more, such as vllm@0.11,sglang@0.5.6.
    .zh = --engines { $text }：应为两种或更多引擎，例如 vllm@0.11,sglang@0.5.6。

fits =
    .en = fits
    .zh = 装得下

one-at-a-time =
    .en = { $first } to { $other }: one value at a time
    .zh = { $first } 换为 { $other }：逐个取值替换

all-together =
    .en = all together
    .zh = 全部一起

way =
    .en = { $name ->
        [prefill-first] prefill-first
       *[mixed] mixed
    }
    .zh = { $name ->
        [prefill-first] 先预填充
       *[mixed] 混合
    }

spread =
    .en = { $value } ({ $low } – { $high })
    .zh = { $value }（{ $low } – { $high }）
