### From DeepSeek-V3 to V4: what a token costs, model by model.

context =
    .en = context, tokens
    .zh = 上下文 token 数

cache-of-token-kb =
    .en = cache per token, kB
    .zh = 每 token 缓存，kB

state-mib =
    .en = state per request, MiB
    .zh = 每请求状态，MiB

cache-of-request-gb =
    .en = cache of a request, GB
    .zh = 每个请求的缓存，GB

read-a-step-gb =
    .en = cache read per decode step, GB
    .zh = 每解码步读取，GB

gflop-decode =
    .en = GFLOP per token, decode
    .zh = 解码每 token GFLOP

gflop-prefill =
    .en = GFLOP per token, prefill
    .zh = 预填充每 token GFLOP

other-models =
    .en = Other models of the catalogue
    .zh = 目录中的其他模型

fit-tp8 =
    .en = requests that fit, TP8
    .zh = 可容纳请求数，TP8

fit-dp8 =
    .en = requests that fit, DP8
    .zh = 可容纳请求数，DP8

ms-with-users =
    .en = ms per token, { $users } requests
    .zh = { $users } 个请求时每 token 毫秒

tokens-a-second =
    .en = token/s within the limit
    .zh = 限值内 token/s

usd-per-million-output =
    .en = USD per million output tokens
    .zh = 每百万输出 token 美元

usd-per-million-input =
    .en = USD per million input tokens
    .zh = 每百万输入 token 美元

usd-per-million-output-b200 =
    .en = USD per million output tokens, { $cards } B200
    .zh = 每百万输出 token 美元，{ $cards }×B200

server-of =
    .en = One server of { $card }
    .zh = 一台 { $card } 服务器

weights-of-card-gb =
    .en = weights of a card, GB
    .zh = 每卡权重，GB

prefill-a-second =
    .en = thousand prompt tokens a second
    .zh = 预填充，k token/s
