### How long a request may be.

rule =
    { $rule ->
        [stated] 负载写明的最长请求
        [positions] 模型的最大位置数
        [longest] 需求中最长的 prompt 与输出
       *[cache] 缓存区间下端所能容纳的长度
    }
