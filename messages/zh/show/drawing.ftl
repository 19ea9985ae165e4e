smaller-parts = 其余较小部分合计
