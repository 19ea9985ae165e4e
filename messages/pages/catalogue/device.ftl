### The page of a device: its data with sources, and what its kernels and links were measured at.

dispatch-combine =
    .en = dispatch + combine
    .zh = 分发+合并

dtype =
    .en = dtype
    .zh = 数据类型

median-range =
    .en = median (range)
    .zh = 中位数（范围）

samples =
    .en = samples
    .zh = 样本数

nodes =
    .en = nodes
    .zh = 服务器数

bus-bandwidth =
    .en = bus bandwidth
    .zh = 总线带宽

algorithm-path =
    .en = algorithm, path
    .zh = 算法或路径

mode =
    .en = mode
    .zh = 模式

tokens-per-rank =
    .en = tokens per rank
    .zh = 每 rank token 数

sent-as =
    .en = sent as
    .zh = 传输数据类型

host-in-a-sentence =
    .en = A host processor by { $maker }. One socket reads its memory at **{ $speed }** at most.
    .zh = { $maker }的主机处理器，单路内存带宽至多 **{ $speed }**。

package-of-dies =
    .en = Software sees { $dies } devices, so a deployment names the die, [{ $name }]({ $die }.ipynb) (`{ $die }`), and counts dies.
    .zh = 软件看到的是 { $dies } 个设备，因此部署文件应写单个 die，即[{ $name }]({ $die }.ipynb)（`{ $die }`），数量按 die 计。

no-deployment-names-this-card =
    .en = No deployment of this book runs on it; [](#own) says how to compute one.
    .zh = 本书尚无运行在这种卡上的部署；如何自行计算，见[](#own)。

deployments-that-name-this-card =
    .en = Deployments in this book that name this card; their pages say whether they load.
    .zh = 本书中写明用这种卡的部署；能否加载，见各自的页面。

card-in-a-sentence =
    .en = A { $package ->
        [yes] package
       *[no] card
    } by { $maker }: **{ $memory }** of memory, read at **{ $speed }**, and **{ $peak }** of dense { $dtype }. Reading all of the memory once takes at least { $once } ms. Below about { $rows } tokens, a { $dtype } matmul is limited by memory; above, by the matrix unit (ridge point: { $ridge } FLOP/B).
    .zh = { $maker }出品：显存 **{ $memory }**，带宽 **{ $speed }**，{ $dtype } 稠密算力 **{ $peak }**。把显存完整读一遍至少需要 { $once } ms。做 { $dtype } 矩阵乘时，一步少于约 { $rows } 个 token 受限于显存带宽，多于此数受限于矩阵单元（脊点 { $ridge } FLOP/B）。

no-other-figures-were-found =
    .en = No other figures were found.
    .zh = 未见其他数值。

factor-is-other-figure-over =
    .en = The factor is the other figure over the one that this book uses.
    .zh = “倍数”为另一数值除以本书采用值。

no-peak-has-a-source =
    .en = No peak rate of this processor has a source yet.
    .zh = 该处理器的峰值算力尚无来源。

points-of-roofline =
    .en = Points are matmuls measured on this card, placed as if they read nothing but weights, at an intensity of twice the rows over the bytes of a weight. A range can reach above the slope: one point stands for several numbers of rows, and small matrices stay in the L2 cache.
    .zh = 点为本卡实测的矩阵乘，横坐标按只读权重计，即行数的两倍除以每个权重的字节数。范围可能越过斜线：一个点代表若干种行数，小矩阵又能留在 L2 缓存里。

which-precisions-run-on-it =
    .en = Which precisions run on it, by which engine and kernel
    .zh = 哪些精度能运行，由哪个引擎、哪个算子

no-measurement-of-its-kernels =
    .en = No measurement of its kernels was found. The script of [](../../measure.md) makes one.
    .zh = 未找到它的算子实测，可用[](../../measure.md)一页的脚本测出。

rows-and-shares-of-kernels =
    .en = Rows are those of the activations: tokens per expert of a grouped matmul or MoE block, requests of MLA in decode, tokens of a prompt in prefill. The share is that of the dense peak of the row's dtype, or for rates in bytes that of the bandwidth.
    .zh = “行数”指激活矩阵的行数：分组矩阵乘与 MoE 块为每专家 token 数，MLA 解码为请求数，MLA 预填充为输入的 token 数。“占比”以该行数据类型的稠密峰值为分母；以字节计的速率以相应带宽为分母。

fixed-costs =
    .en = Costs that do not depend on the size of the work:
    .zh = 与工作量无关的固定开销：

cost =
    .en = cost
    .zh = 开销

time-range =
    .en = time (range)
    .zh = 时间（范围）

measured-on-one-die =
    .en = Measured on one die, [{ $name }]({ $origin }.ipynb); rates and shares are of one die.
    .zh = 以下在单个 die（[{ $name }]({ $origin }.ipynb)）上测得，速率与占比均按单个 die 计。

measured-on-another-card =
    .en = Nothing was found for this very device: all rates were measured on [{ $name }]({ $origin }.ipynb) and the shares are of what that one has. That this one reaches the same shares is an assumption.
    .zh = 没有找到本型号自己的实测：以下均在[{ $name }]({ $origin }.ipynb)上测得，占比也以它的标称值为准。本型号能达到同样的占比，只是假设。

# number: of the formula
bus-bandwidth-explained =
    .en = Bus bandwidth is payload over time, times 2(n − 1)/n for all-reduce and (n − 1)/n for all-gather, reduce-scatter and all-to-all; n is the number of ranks.
    .zh = 总线带宽（bus bandwidth）为数据量除以时间，all-reduce 再乘 2(n − 1)/n，all-gather、reduce-scatter 与 all-to-all 再乘 (n − 1)/n；n 为 rank 数。

expert-exchange-explained =
    .en = The all-to-all of a mixture of experts (MoE): dispatch sends tokens to their experts, combine brings the results back. Times and rates are per rank.
    .zh = 混合专家（MoE）的 all-to-all：分发（dispatch）把 token 送往专家，合并（combine）把结果取回。时间与带宽均按每个 rank 计。

host-takes-no-part =
    .en = A host processor takes part in neither.
    .zh = 主机处理器不参与这两类通信。

no-collectives-were-found =
    .en = None was found for this card.
    .zh = 未找到该卡的数据。

no-mechanisms-for-this-type =
    .en = There are none for a device of this type.
    .zh = 没有适用于这类设备的机制参数。

values-of-a-class =
    .en = The values apply to the class *{ $name }*, which covers { $sharing } devices of the catalogue.
    .zh = 以下为一类设备共用的取值：{ $name }，目录中有 { $sharing } 种设备采用。

every-mechanism =
    .en = Every mechanism
    .zh = 全部机制参数
