### Values that a deployment gets by default.

default-share =
    .en = Default of { $release }: { $kept } MiB of { $memory } MiB are kept for activations and graphs.
    .zh = { $release } 的默认值：{ $memory } MiB 显存中留 { $kept } MiB 给激活与图。
