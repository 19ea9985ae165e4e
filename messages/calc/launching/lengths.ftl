### How long a request may be.

longer-than-positions =
    .en = { $share } of the requests{ $stated ->
        [yes] { "" }
       *[no] , if lengths vary as in { $usual } (nothing is stated),
    } are longer than the { $most } positions of '{ $of }' and are refused: shorten input_tokens + output_tokens, or state context_tokens.
    .zh = { $stated ->
        [yes] { "" }
       *[no] 若长度分布如 { $usual }（未说明），
    }{ $share } 的请求超过 '{ $of }' 的 { $most } 个位置，会被拒绝：请缩短 input_tokens + output_tokens，或写明 context_tokens。
