### How long a request may be.

rule =
    .zh = { $rule ->
        [stated] 负载写明的最长请求
        [positions] 模型的最大位置数
        [longest] 需求中最长的 prompt 与输出
       *[cache] 缓存区间下端所能容纳的长度
    }

lengths =
    .zh = { $distribution ->
        [constant] 全部相同
       *[other] { $distribution }，标准差与均值之比：输入 { $prompts }、输出 { $answers }，{ $stated ->
            [yes] 如所述
           *[no] 未给出，取自 { $usual }
        }
    }

longer-than-positions =
    .zh = { $share } 的请求超过 '{ $of }' 的 { $most } 个位置，会被拒绝{ $stated ->
        [yes] { "" }
       *[no] （未写明长度分布，按 { $usual } 变化）
    }。请缩短 input_tokens + output_tokens，或写明 context_tokens。
