### How an estimate is shown: which quantities answer a deployment, parts of a step, what binds.

experts-reading-arithmetic =
    .en = experts: reading, arithmetic
    .zh = 专家：读取与计算

experts-on-host =
    .en = experts on the host
    .zh = 主机上的专家

experts-loading-to-card =
    .en = experts: loading to the card
    .zh = 专家：加载到卡上

kernel-boundaries-host-gap =
    .en = kernel boundaries, host, gap
    .zh = 算子间隔、主机、步间空隙

drafting =
    .en = drafting
    .zh = 投机解码

stalls-by-other-prompts =
    .en = stalls by other prompts
    .zh = 他人预填充造成的停顿

hidden-or-saved =
    .en = hidden by overlap, saved by the path for one token or by ranks with fewer requests
    .zh = 被重叠掩盖，或因单 token 路径、请求较少的 rank 而省去

what-user-waits-for =
    .en = what the user waits for
    .zh = 用户等待的时间

l2-bandwidth-dequantisation =
    .en = L2 bandwidth: dequantisation
    .zh = L2 带宽（反量化）

host =
    .en = the host
    .zh = 主机

fixed-costs-boundaries-and-gap =
    .en = fixed costs: boundaries and gap
    .zh = 固定开销（算子间隔与步间空隙）

similar-runs-inside-their-interval =
    .en = similar runs inside their interval
    .zh = 同类实测落在区间内

in-ms =
    .en = { $short } (ms)
    .zh = { $short }（ms）

what-step-is-made-of =
    .en = What a step is made of
    .zh = 一步的时间构成

document =
    .en = document { $key }
    .zh = 文档 { $key }

requests-sent-at-once =
    .en = requests sent at once
    .zh = 一次发出的请求数

drafted-tokens-per-step =
    .en = drafted tokens per step
    .zh = MTP 投机 token 数

share-of-experts-loaded-when-chosen =
    .en = share of the routed experts that is not on the cards, loaded when chosen
    .zh = 不在卡上、选中时才加载的路由专家比例

share-of-experts-on-storage =
    .en = of all routed experts, on storage
    .zh = 全部路由专家中放在存储上的比例

hosts-that-hold-experts =
    .en = host processors whose memory holds the rest
    .zh = 内存存放其余专家的主机处理器数

share-of-experts-on-the-host =
    .en = share of the routed experts on the host
    .zh = 放在主机上的路由专家比例

hosts-that-compute-experts =
    .en = host processors that compute them
    .zh = 计算专家的主机处理器数

dense-peak =
    .en = dense peak, { $dtype }
    .zh = { $dtype } 稠密峰值

per-device-one-way =
    .en = { $link }: per device, one way
    .zh = { $link }：单卡单方向

per-pair-one-way =
    .en = { $link }: per pair, one way
    .zh = { $link }：单对卡单方向

memory-bandwidth-of-socket =
    .en = { $host }: memory bandwidth of a socket
    .zh = { $host }：单路内存带宽

between-host-and-device =
    .en = between host and device, one way
    .zh = 主机与卡之间，单方向

peak-of-socket =
    .en = { $host }: peak of a socket, { $dtype }
    .zh = { $host }：单路 { $dtype } 峰值
