### The answer, the three views of it, what would run instead, and the variants of a file.

this-page-shows-that-variant = 本页完整列出这一变体，[其他变体]({ $others })见后。
where-document-formula-is-not = 文档公式与本书不同之处，两式并列，并指出出错的一步：
what-goes-wrong = 出错之处
document-formula = 文档的公式
right-one = 正确的公式
formulas-one-beside-other = 两式对照
letters = 符号
to-receive-together-each-of = { $count } 个请求若合计得到 { $together }，每个请求就要每 { $each } 得到一个 token；而估计值为 { $pace }（{ $reach }）。
document-also-describes-model-of = 文档还给出了一套自己的模型结构。按其所列形状计数，参数应为 { $total }，是它所写 { $printed } 的 { $total2 } 倍；“推导”一列改用官方配置。
most-tokens-per-second-for = 同样的卡、同样的请求，枚举全部合法切分与支持的精度共 { $tried } 个部署，每秒 token 数最高的是：
best-with-their-intervals = 最优方案及其区间
memory-and-precision-allow-it = 按所写配置，显存装得下，精度也支持。
what-would-run = 可以运行的改动：
runtime-tried-every-valid-cut = 本书程序在同样的卡上枚举了全部合法切分与支持的各种精度，以及更短的预填充分块、更少的请求、更短的上下文和更多同型号的卡。以下改动可以运行，改动小者在前；若有增加卡数的一行，所列为按原精度运行所需的最少卡数。
every-change-that-was-found = 找到的全部改动
no-change-of-cut-precision = 改变切分、精度或卡数，均未找到可以运行的方案。
what-document-prints-for-all = 文档对全部变体合计给出的数：
one-that-this-page-shows = 即本页完整列出的部署。
