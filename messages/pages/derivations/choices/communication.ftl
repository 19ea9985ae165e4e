### How far tensor parallelism may reach: steps of a few cuts over one server and over two.

users =
    .en = users
    .zh = 用户数

tp-over-all =
    .en = attention TP over all cards
    .zh = 注意力 TP 取全部卡

over-half =
    .en = over half
    .zh = 取一半

over-half-all-to-all =
    .en = over half, all-to-all
    .zh = 取一半，all-to-all

over-quarter =
    .en = over a quarter
    .zh = 取四分之一

attention-data-parallel =
    .en = attention data-parallel
    .zh = 注意力数据并行

how-steps-are-shown =
    .en = Time of a decode step of DeepSeek-V3 in ms, { $prompt } tokens in and { $answer } out, with its communication in brackets and the fastest in bold; – does not fit. Except under all-to-all, experts lie in slices on all cards, and tokens are gathered for them. { $stored }.
    .zh = DeepSeek-V3 一步解码的时间（ms），输入 { $prompt }、输出 { $answer } token，括号内为其中的通信，最快的加粗；“–”表示放不下。除注明 all-to-all 者外，专家按 TP 切分到全部卡上，token 收集到各卡。{ $stored }。

all-reduces-in-step =
    .en = All-reduces on 910B2 in a step with { $requests } requests: { $times }.
    .zh = 910B2 上 all-reduce 的时间，按 rank 数，每步 { $requests } 个请求：{ $times }。

all-reduces-in-prompt =
    .en = In a prompt of { $prompt } tokens: { $times }. Inside a server every pair of cards has a link, so more ranks use more links. Across servers there are no further links.
    .zh = 一条 { $prompt } token 的 prompt：{ $times }。服务器内全互联，rank 越多，用到的链路越多；跨服务器后节点内的链路不再增加，还要过网络。

cards-in-precision =
    .en = { $cards } × { $card }: { $precision }
    .zh = { $cards } × { $card }：{ $precision }
