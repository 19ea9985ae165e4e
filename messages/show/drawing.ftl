smaller-parts =
    .en = smaller parts, together
    .zh = 其余较小部分合计
