### The page of all accelerators and processors: their numbers, a map, and where sources disagree.

vendor =
    .en = vendor
    .zh = 厂商

memory-gib =
    .en = memory (GiB)
    .zh = 显存（GiB）

bandwidth-tb-s =
    .en = bandwidth (TB/s)
    .zh = 带宽（TB/s）

ridge-flop-b =
    .en = ridge (FLOP/B)
    .zh = 脊点（FLOP/B）

power-w =
    .en = power (W)
    .zh = 功耗（W）

processor =
    .en = processor
    .zh = 处理器

bandwidth-gb-s =
    .en = bandwidth (GB/s)
    .zh = 带宽（GB/s）

clock-ghz =
    .en = clock (GHz)
    .zh = 主频（GHz）

matrix-bf16-tflops =
    .en = matrix BF16 (TFLOPS)
    .zh = 矩阵 BF16（TFLOPS）

matrix-int8-tops =
    .en = matrix INT8 (TOPS)
    .zh = 矩阵 INT8（TOPS）

memory-bandwidth-tb-s =
    .en = memory bandwidth (TB/s)
    .zh = 显存带宽（TB/s）

bf16-dense-tflops =
    .en = BF16, dense (TFLOPS)
    .zh = BF16 稠密算力（TFLOPS）

other-figures =
    .en = The other figures
    .zh = 其余数值
