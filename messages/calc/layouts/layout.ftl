### One deployment that a search tries: its settings, its ``--set`` line, its scenario file.

prefill-pool =
    .en = Prefill pool
    .zh = 预填充池

decode-pool =
    .en = Decode pool
    .zh = 解码池
