### A card that was measured after its values were set.

dtype =
    .en = matmul in
    .zh = 矩阵乘的数据类型

kernel =
    .en = what PyTorch ran
    .zh = PyTorch 运行的算子

rows =
    .en = shapes
    .zh = 形状数

most =
    .en = nine in ten within
    .zh = 九成不超过

leaning =
    .en = lean
    .zh = 偏差
