### Loading: what a server reads before it answers, from where, and what crosses its network.

nfs-or-object-store-over =
    .en = NFS or object store over { $port } Gb/s
    .zh = { $port } Gb/s 网络上的 NFS 或对象存储

storage-usual-loader-measured =
    .en = { $fast } storage, usual loader (measured)
    .zh = { $fast } 存储，常用加载器（实测）

# number: the generation of the drive
one-nvme-drive =
    .en = one NVMe drive, PCIe 4.0
    .zh = 一块 NVMe 盘（PCIe 4.0）

object-store-streamed-measured =
    .en = object store, streamed (measured)
    .zh = 对象存储，流式读取（实测）

two-nvme-drives-striped =
    .en = two NVMe drives, striped
    .zh = 两块 NVMe 盘条带化

store-behind-port =
    .en = store behind a { $port } Gb/s port
    .zh = { $port } Gb/s 端口后的共享存储

page-cache-usual-loader-measured =
    .en = page cache, usual loader (measured)
    .zh = 页缓存，常用加载器（实测）

storage-best-loader-measured =
    .en = { $fast } storage, best loader (measured)
    .zh = { $fast } 存储，最快的加载器（实测）

eight-bits-on-one-server =
    .en = 8 bits on one server
    .zh = 8 比特，一台服务器

eight-bits-on-two-or =
    .en = 8 bits on two, or 4 bits on one
    .zh = 8 比特两台，或 4 比特一台

start-of-engine-alone =
    .en = start of the engine alone
    .zh = 仅引擎启动

storage-to-server-gb-s =
    .en = storage to a server (GB/s)
    .zh = 存储到单台服务器的速率（GB/s）

minutes-until-it-answers =
    .en = minutes until it answers
    .zh = 重启所需分钟

weights-from =
    .en = weights from
    .zh = 权重来源

# number: servers of the deployments that are compared
h200-one-server-min =
    .en = H200, 1 server: min
    .zh = H200 单台：分钟

# number: servers of the deployments that are compared
h20-each-of-two-min =
    .en = H20, each of 2: min
    .zh = 两台 H20，每台：分钟

h200-back-in-service-after =
    .en = H200, back in service after: min
    .zh = H200 恢复服务：分钟

hours-year-in-restarts =
    .en = hours a year in restarts
    .zh = 每年重启小时数

servers-at-once =
    .en = { $servers } servers at once from one such store: min
    .zh = { $servers } 台同时读同一存储：分钟

weights-of-all-cards =
    .en = weights, as all cards read them
    .zh = 权重（各卡读取量合计）

versions-on-disk =
    .en = { $kept } versions on disk
    .zh = 磁盘上存 { $kept } 个版本

left-of-memory =
    .en = left of { $memory }, { $node }
    .zh = { $node }，{ $memory } 所余

kv-of-token =
    .en = KV cache per token
    .zh = 每 token KV

reading-pays-from-gb-s =
    .en = reading pays from, GB/s
    .zh = 读取划算的最低速率，GB/s

kept-for-returns =
    .en = cache kept for { $found } of returns
    .zh = 后续轮请求 { $found } 命中所需容量

written-day =
    .en = written a day
    .zh = 每天写入

gb-s-per-card =
    .en = { $called }: Gb/s needed per card
    .zh = { $called } 所需，每卡 Gb/s

time-at-port =
    .en = { $called } at { $port }
    .zh = { $port } Gb/s 时 { $called }
