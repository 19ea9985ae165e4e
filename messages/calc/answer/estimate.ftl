### Whether a deployment runs as asked.

fits =
    .zh = 装得下

overloaded =
    .zh = 过载

fits-late =
    .zh = 装得下，但 { $names } 超出上限

does-not-run =
    .zh = 无法运行

does-not-fit =
    .zh = 装不下

fits-some =
    .zh = { $all } 个请求中可容纳 { $fit } 个{ $waiting ->
        [yes] ，其余排队
       *[no] （均按最大长度计）
    }
