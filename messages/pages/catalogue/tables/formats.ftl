### Storage formats and the cards that multiply them, as tables.

bytes-per-element =
    .en = bytes per element
    .zh = 每元素字节

all-other-formats =
    .en = All other formats
    .zh = 其余格式

bytes-of-format =
    .en = { $name }: { $filled } bytes.
    .zh = { $name }：{ $filled } 字节。

via-16-bits =
    .en = via 16 bits (no { $lacking })
    .zh = 还原为 16 比特（无 { $lacking }）

which-cards-multiply-each-precision =
    .en = Which cards multiply each precision
    .zh = 各卡能直接相乘哪些精度

what-the-marks-mean =
    .en = ✓: the card's matrix unit supports the precision. Via 16 bits: an engine with a kernel for it dequantises the weights first; this saves memory, not compute.
    .zh = ✓：该卡的矩阵单元可以直接相乘。还原为 16 比特：引擎若有相应的算子，先把权重还原再相乘，只省显存，不加快计算。
