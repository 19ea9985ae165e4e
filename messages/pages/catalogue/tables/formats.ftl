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
    .en = Which cards support each precision
    .zh = 各卡的矩阵单元支持哪些精度

what-the-marks-mean =
    .en = ✓: the card's matrix unit multiplies in the precision's own type, 16 bits for w4a16. Via 16 bits: an engine with a kernel for it dequantises the weights first; this saves memory, not compute.
    .zh = ✓：该卡的矩阵单元支持该精度相乘所用的类型，w4a16 为 16 比特。还原为 16 比特：矩阵单元不支持，引擎若有算子，先还原再相乘，只省显存，不加快计算。
