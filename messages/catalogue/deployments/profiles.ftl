### The engine that a deployment names, and what it inherits from it.

default-of-in =
    .en = Default of { $flag } in { $release }.
    .zh = { $release } 中 { $flag } 的默认值。
