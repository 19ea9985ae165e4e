### One decode step over the layers, kernel by kernel.

all-reduce = 每次 all-reduce
boundaries = 启动 kernel
embedding = 嵌入层的 all-reduce
norms = 归一化与门控
host-gap = 主机间隙
title = 一个解码步逐层的时间
about = 一个专家层与一个稠密层在卡上、链路上和第二条流上逐 kernel 的时间，以及由 { $layers } 层组成、共 { $step }的一步。
expert-layer = 一个专家层
dense-layer = 一个稠密层
links = 链路上
# number: the name of the stream
stream = 第二流
whole-step = 整步：稠密层、专家层、输出头与间隙
