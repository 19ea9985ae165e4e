### What an engine prints of its cache when it starts, as it is predicted.

# number: the intervals of all answers
engine-prints =
    { $engine } 启动时打印{ $pool ->
        [prefill] （预填充池）
        [decode] （解码池）
       *[none] { "" }
    } { $line }（每个 DP rank；80% 区间 { $low } 至 { $high } token，即 { $least } 至 { $most } 个该长度的请求；该长度为{ $rule }）。
# number: the intervals of all answers
does-not-start =
    { $engine } 启动时会报错退出{ $pool ->
        [prefill] （预填充池）
        [decode] （解码池）
       *[none] { "" }
    }：每个 DP rank 的缓存只有 { $tokens } token（80% 区间 { $low } 至 { $high }），装不下一个 { $length } token 的请求。
