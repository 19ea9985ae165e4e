### The page of one document: what of it can be used, what is wrong and why, every claim.

what-goes-wrong = 错在哪里
consequence = 后果
largest-error = 最大误差
such-as = 例如
what-is-missing = 缺少的来源
by-what-is-missing = 按缺少的来源列出
what-and-why = 内容与理由
off-by = 相差
claims-of-document = 文档的论断
