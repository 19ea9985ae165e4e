### How a layout is written: servers, and of one server how attention and experts are cut.

servers-of =
    .en = { $count } replicas of { $server }
    .zh = { $count } 个实例，各 { $server }
