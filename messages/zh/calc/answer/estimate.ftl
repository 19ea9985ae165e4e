### Whether a deployment runs as asked.

fits = 装得下
overloaded = 过载
fits-late = 装得下，但 { $names } 超出上限
does-not-run = 无法运行
does-not-fit = 装不下
fits-some =
    { $all } 个请求中可容纳 { $fit } 个{ $waiting ->
        [yes] ，其余排队
       *[no] （均按最大长度计）
    }
