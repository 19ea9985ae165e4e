### What a state may set besides its fields: mechanisms, and how an engine works, by key of a file.

share-of-peak-of-matmuls = 矩阵乘的峰值利用率
share-of-peak-of-whole = 完整专家的峰值利用率
share-of-peak-of-slices = 专家 TP 切分的峰值利用率
time-of-matmul-per-input = 矩阵乘沿求和维每个输入的时间
only-longest-context-is-known = 只知最长上下文：每个请求都还差一个 token 到头
how-steps-are-filled = 每步如何装填
decode-runs-as-captured-graph = 解码以捕获的图执行
how-experts-are-placed = 专家如何放置
prompts-and-decodes-mixed = 预填充与解码混合
prompts-first = 预填充优先
by-measured-load = 按实测负载
equal-shares = 各 rank 均分
of-type = { $name }（{ $type }）
# number: the values of a truth, as names of symbols end
truth = （0 或 1）
