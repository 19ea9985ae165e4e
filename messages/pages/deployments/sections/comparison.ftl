### The answer, the three views of it, what would run instead, and the variants of a file.

this-page-shows-that-variant =
    .en = This page shows that variant in full; [the others]({ $others }) follow.
    .zh = 本页完整列出这一变体，[其他变体]({ $others })见后。

where-document-formula-is-not =
    .en = Where the document's formula is not ours, both, and the step that goes wrong:
    .zh = 文档公式与本书不同之处，两式并列，并指出出错的一步：

what-goes-wrong =
    .en = what goes wrong
    .zh = 出错之处

document-formula =
    .en = the document's formula
    .zh = 文档的公式

right-one =
    .en = the right one
    .zh = 正确的公式

formulas-one-beside-other =
    .en = The formulas, one beside the other
    .zh = 两式对照

letters =
    .en = The letters
    .zh = 符号

to-receive-together-each-of =
    .en = To receive { $together } together, each of the { $count } requests would need a token every { $each }. The estimate is { $pace } ({ $reach }).
    .zh = { $count } 个请求若合计得到 { $together }，每个请求就要每 { $each } 得到一个 token；而估计值为 { $pace }（{ $reach }）。

document-also-describes-model-of =
    .en = The document also describes a model of its own. Counted from the shapes it states, that model has { $total } parameters, { $total2 } times the { $printed } that it prints; the derived column uses the published configuration instead.
    .zh = 文档还给出了一套自己的模型结构。按其所列形状计数，参数应为 { $total }，是它所写 { $printed } 的 { $total2 } 倍；“推导”一列改用官方配置。

most-tokens-per-second-for =
    .en = The most tokens per second for the same requests on the same cards, of { $tried } deployments, all that divide model and cards, in every precision that the cards multiply:
    .zh = 同样的卡、同样的请求，枚举全部合法切分与支持的精度共 { $tried } 个部署，每秒 token 数最高的是：

best-with-their-intervals =
    .en = The best, with their intervals
    .zh = 最优方案及其区间

memory-and-precision-allow-it =
    .en = Memory and precision allow it as it is written.
    .zh = 按所写配置，显存装得下，精度也支持。

what-would-run =
    .en = What would run:
    .zh = 可以运行的改动：

runtime-tried-every-valid-cut =
    .en = The runtime tried every valid layout of the same cards in every precision they multiply, shorter chunks, fewer requests, a shorter context, and more cards of the same kind. These changes run, the nearest first; where cards are added, it is the fewest on which the requested precision runs.
    .zh = 本书程序在同样的卡上枚举了全部合法切分与支持的各种精度，以及更短的预填充分块、更少的请求、更短的上下文和更多同型号的卡。以下改动可以运行，改动小者在前；若有增加卡数的一行，所列为按原精度运行所需的最少卡数。

every-change-that-was-found =
    .en = Every change that was found
    .zh = 找到的全部改动

no-change-of-cut-precision =
    .en = No change of cut, precision or number of cards was found to make it run.
    .zh = 改变切分、精度或卡数，均未找到可以运行的方案。

what-document-prints-for-all =
    .en = What the document prints for all of them together:
    .zh = 文档对全部变体合计给出的数：

one-that-this-page-shows =
    .en = The one that this page shows in full.
    .zh = 即本页完整列出的部署。
