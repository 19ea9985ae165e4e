### The matrix: which card holds a model in which precision for how many users, and how fast.

with-published-fp8-weights-one =
    .en = With the published FP8 weights, one server is enough with { $cards }. The fastest single server is { $choice } in { $plan }: a token every { $pace } for each of { $users } users.
    .zh = 使用官方 FP8 权重、一台服务器就够的卡有：{ $cards }。单台方案中最快的是 { $choice }（{ $plan }），{ $users } 个用户每人每 { $pace } 得到一个 token。

does-not-fit =
    .en = does not fit
    .zh = 装不下

download-all-fields-csv =
    .en = Download the whole table (CSV)
    .zh = 下载全部数据（CSV）

device-precision =
    .en = device, precision
    .zh = 设备、精度

users-one-server-holds-of =
    .en = { $users } { $users ->
        [one] user
       *[other] users
    }: one server is enough for { $held } of { $pairs } pairs of device and precision
    .zh = { $users } 个用户：{ $pairs } 种组合中 { $held } 种一台即可
