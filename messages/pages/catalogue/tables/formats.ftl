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

through-l2 =
    .en = ✓, through L2
    .zh = ✓，经 L2

which-cards-multiply-each-precision =
    .en = Which cards support each precision
    .zh = 各卡的矩阵单元支持哪些精度

what-the-marks-mean =
    .en = ✓: the card's matrix unit multiplies in the precision's own type, 16 bits for w4a16. Through L2: its 4-bit weights are dequantised through the L2 cache first, in every step, which makes decode slow. Via 16 bits: an engine with a kernel for it dequantises the weights first; this saves memory, not compute.
    .zh = ✓：该卡的矩阵单元支持该精度相乘所用的类型，w4a16 为 16 比特。经 L2：每步都要先经 L2 缓存反量化 4 比特权重，解码因此变慢。还原为 16 比特：矩阵单元不支持，引擎若有算子，先还原再相乘，只省显存，不加快计算。
