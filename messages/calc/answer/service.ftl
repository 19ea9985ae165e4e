### What an engine prints of its cache when it starts, as it is predicted.

# number: the intervals of all answers
engine-prints =
    .en = { $engine } prints { $line }{ $pool ->
        [prefill] { " " }in the prefill pool
        [decode] { " " }in the decode pool
       *[none] { "" }
    } (on each DP rank; 80%: { $low } to { $high } tokens, { $least } to { $most } requests of that length, { $rule }).
    .zh = { $engine } 启动时打印{ $pool ->
        [prefill] （预填充池）
        [decode] （解码池）
       *[none] { "" }
    } { $line }（每个 DP rank；80% 区间 { $low } 至 { $high } token，即 { $least } 至 { $most } 个该长度的请求；该长度为{ $rule }）。

# number: the intervals of all answers
does-not-start =
    .en = { $engine } stops when it starts{ $pool ->
        [prefill] { " " }in the prefill pool
        [decode] { " " }in the decode pool
       *[none] { "" }
    }: the cache of a DP rank holds { $tokens } tokens (80% interval { $low } to { $high }), less than one request of { $length } tokens.
    .zh = { $engine } 启动时会报错退出{ $pool ->
        [prefill] （预填充池）
        [decode] （解码池）
       *[none] { "" }
    }：每个 DP rank 的缓存只有 { $tokens } token（80% 区间 { $low } 至 { $high }），装不下一个 { $length } token 的请求。
