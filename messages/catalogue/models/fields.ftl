### What of a model's layers no formula has, as its configuration says it.

pooled =
    .en = { $count ->
        [one] The gates by which an indexer pools keys, and the token after the last pool, are not counted.
       *[other] The gates by which an indexer pools keys, and up to { $count } tokens after the last pool, are not counted.
    }
    .zh = 索引器池化键所用的门，以及最后一个池之后至多 { $count } 个 token，未计入。
