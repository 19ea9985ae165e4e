### Whether a deployment runs as asked: the one judge, for one deployment or for many at once.

# does not fit
fullest-device-is-short-weights =
    装不下，显存占用最大的卡还差 { $short }：权重 { $weights }、KV 缓存 { $cache }（每个请求都按最长计）{ $copied ->
        [yes] 、副本与预测层 { $copies }
       *[no] { "" }
    }{ $buffered ->
        [yes] 、缓冲 { $buffers }
       *[no] { "" }
    }、激活 { $active }，连同运行时占用共 { $whole }，而引擎可用 { $usable }。
