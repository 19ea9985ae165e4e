### What would run instead of a deployment that does not, as the runtime found it by trying.

its-own-precision = 原有精度
any-precision = 任意精度
as-it-is = 不变
best-in = 最优方案
spare = 余量
cards-instead-of = 卡数由 { $devices_before } 改为 { $devices }
cut = 切分 { $new }
redundant-experts = { $spares } 个冗余专家
requests-at-once-instead-of = 并发请求由 { $before } 减为 { $after }
context-of-tokens-instead-of = 上下文由 { $before } 缩短为 { $after } token
prompt-chunks-of-tokens-instead = 预填充分块由 { $before } 改为 { $after } token
filled-with-all-requests-that = 若把能放下的 { $most } 个请求全部放满，可得 **{ $rate }**（{ $reach }），每个请求每 { $pace }得到一个 token。
