### The pictures of the chapter on what decides. They draw results that they are given.

input-at-its-low-end =
    .en = input at its low end
    .zh = 输入取下限

input-at-its-high-end =
    .en = input at its high end
    .zh = 输入取上限
