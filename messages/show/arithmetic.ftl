### Sliders beside a formula: its own letters, moved in the browser by the generated function.

move-letters =
    .en = Move the letters
    .zh = 拖动滑块
