### What public calculators say of one deployment, from the formulas that they publish.

handbook =
    .en = It counts sixteen bits and adds a fifth, as in its own example; the published weights have eight bits and come to { $weights }. The fifth depends on neither requests nor lengths: the rest is { $rest } here and grows with both.
    .zh = 按其示例取 16 比特再加两成，而官方权重是 8 比特，共 { $weights }。两成与请求数、长度都无关；而此处权重以外的部分有 { $rest }，并随二者增长。

estimator-of-vram =
    .en = It caches keys and values of every head, { $mha } per token; MLA leaves { $mla }. It keeps the activations of all layers and tokens, although a step holds one layer at a time. It divides by 1024³, so it prints GiB.
    .zh = KV 缓存按每个头的键和值计，每 token { $mha }；MLA 只留 { $mla }。激活按所有层、所有 token 都保留计，而一步中同时只需保留一层的激活。结果除以 1024³，单位其实是 GiB。

estimator-of-resources =
    .en = It caches twice the hidden size per layer, { $wide } per token against { $mla }, which is right for no model with shared or latent keys. It leaves out that every rank keeps a copy of the latent vectors, { $copies } here.
    .zh = KV 缓存按每层两倍隐藏维度计，每 token { $wide }，实际 { $mla }：对共享键值或潜向量的模型都不对。每个 rank 各存一份潜向量（此处 { $copies } 份）则没有计入。

calculator-of-size =
    .en = It counts weights alone; cache, activations, copies and the engine itself take { $rest } more. It divides by the memory of a card and rounds up to { $count } cards of { $card }, but experts and heads cannot be divided by { $count }.
    .zh = 只有权重：KV 缓存、激活、副本和引擎自身另占 { $rest }。它用总量除以单卡显存再向上取整，得 { $count } 张 { $card } 卡；而专家和注意力头都不能切成 { $count } 份。

napkin =
    .en = It counts only the reading of active parameters at full bandwidth, which is a lower bound. At the bandwidth that kernels reach, weights and cache take { $read } of a step of { $step }; most of the rest are launches and other fixed costs of kernels, communication and the host. It holds for one request only: { $users } requests read { $experts } of { $all } experts per layer, not { $picked }.
    .zh = 只算以满带宽读取激活参数的时间，这是下界。按算子能达到的带宽，读权重与缓存在一步的 { $step } 里占 { $read }，其余大多是算子下发等固定开销、通信和主机时间。而且只适用于单个请求：{ $users } 个请求的一步会读每层 { $all } 个专家中的 { $experts } 个，而不是 { $picked } 个。

calculator-and-formula =
    .en = calculator and formula
    .zh = 计算器与公式

it-says =
    .en = it says
    .zh = 该计算器的结果

this-book =
    .en = this book
    .zh = 本书

step =
    .en = the wrong step
    .zh = 出错的一步
