### What a state may set besides its fields: mechanisms, and how an engine works, by key of a file.

share-of-peak-of-matmuls =
    .en = share of the peak of matmuls
    .zh = 矩阵乘的峰值利用率

share-of-peak-of-whole =
    .en = share of the peak of whole experts
    .zh = 完整专家的峰值利用率

share-of-peak-of-slices =
    .en = share of the peak of slices of experts
    .zh = 专家 TP 切分的峰值利用率

time-of-matmul-per-input =
    .en = time of a matmul per input summed over
    .zh = 矩阵乘沿求和维每个输入的时间

only-longest-context-is-known =
    .en = only the longest context is known: every request one token from its end
    .zh = 只知最长上下文：每个请求都还差一个 token 到头

how-steps-are-filled =
    .en = how steps are filled
    .zh = 每步如何装填

decode-runs-as-captured-graph =
    .en = decode runs as a captured graph
    .zh = 解码以捕获的图执行

how-experts-are-placed =
    .en = how experts are placed
    .zh = 专家如何放置

prompts-and-decodes-mixed =
    .en = prompts and decodes mixed
    .zh = 预填充与解码混合

prompts-first =
    .en = prompts first
    .zh = 预填充优先

by-measured-load =
    .en = by measured load
    .zh = 按实测负载

equal-shares =
    .en = equal shares
    .zh = 各 rank 均分

of-type =
    .en = { $name }, { $type }
    .zh = { $name }（{ $type }）

# number: the values of a truth, as names of symbols end
truth =
    .en = (0 or 1)
    .zh = （0 或 1）
