### One decode step over the layers, kernel by kernel.

all-reduce =
    .en = all-reduce, each
    .zh = 每次 all-reduce

boundaries =
    .en = starting kernels
    .zh = 启动 kernel

embedding =
    .en = embedding's all-reduce
    .zh = 嵌入层的 all-reduce

norms =
    .en = norms and gates
    .zh = 归一化与门控

host-gap =
    .en = gap of the host
    .zh = 主机间隙

title =
    .en = One decode step over the layers
    .zh = 一个解码步逐层的时间

about =
    .en = A layer with experts and a dense layer, kernel by kernel on the card, on the links and on a second stream, and the step of { $step } as its { $layers } layers.
    .zh = 一个专家层与一个稠密层在卡上、链路上和第二条流上逐 kernel 的时间，以及由 { $layers } 层组成、共 { $step }的一步。

expert-layer =
    .en = one layer with experts
    .zh = 一个专家层

dense-layer =
    .en = one dense layer
    .zh = 一个稠密层

links =
    .en = the links
    .zh = 链路上

# number: the name of the stream
stream =
    .en = stream 2
    .zh = 第二流

whole-step =
    .en = the whole step: dense layers, layers with experts, head and gap
    .zh = 整步：稠密层、专家层、输出头与间隙
