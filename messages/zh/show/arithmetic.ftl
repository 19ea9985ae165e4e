### Sliders beside a formula: its own letters, moved in the browser by the generated function.

move-letters = 拖动滑块
