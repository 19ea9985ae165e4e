### The chapter on a card of one's own: the example's files, its answers, and what is misread.

gib-printed-as-gb =
    .en = GiB printed as GB
    .zh = GiB 写作 GB

requests-that-fit =
    .en = requests that fit
    .zh = 可容纳的请求数

sparse-peak-for-dense-fp8 =
    .en = sparse peak for dense, FP8
    .zh = 把稀疏峰值当作稠密（FP8）

both-directions-of-link-for =
    .en = both directions of a link for one
    .zh = 把链路双向之和当作单向

package-for-die =
    .en = package for die: { $package }
    .zh = 把封装当作单个 die：{ $package }

memory-of-what-software-sees =
    .en = memory of one device, as software sees it
    .zh = 软件所见设备的显存

misreading =
    .en = misreading
    .zh = 误读

meant =
    .en = meant
    .zh = 本意

read-as =
    .en = read as
    .zh = 误读为

what-follows =
    .en = quantity affected
    .zh = 受影响的量

rightly =
    .en = read correctly
    .zh = 正确读法

misread =
    .en = misread
    .zh = 误读后

written =
    .en = written
    .zh = 写成

answer =
    .en = answer
    .zh = 输出

python-m-calc-estimate-my =
    .en = `will-it-fit estimate my-plan.yml` answers for the first, `my-plan.yml#dp8` names another; `--json` is for programs. For the example:
    .zh = `will-it-fit estimate my-plan.yml` 给出第一个方案的估算结果，`my-plan.yml#dp8` 指定另一个；加 `--json` 供程序读取。示例的结果：

document-numbers-beside-ours =
    .en = a document's numbers beside ours
    .zh = 文档数值与推导值的对照

predicted-against-measured =
    .en = predicted against measured
    .zh = 预测与实测的对照

time-to-first-token-decode =
    .en = the times to the first token and of a whole request; only a decode step is then computed
    .zh = 首 token 延迟与整个请求的时间；此时只计算一个解码步

on-card-own-page-what =
    .en = on the card's own page, the measured rates of its kernels
    .zh = 卡自己的页面上，算子的实测速率

nothing-those-of-card-class =
    .en = nothing: those of the card's class are used
    .zh = 不缺内容：采用同类卡的取值

key-left-out =
    .en = key left out
    .zh = 未写的键

what-is-then-absent =
    .en = what is then absent
    .zh = 页面因此缺少

time-per-output-token-from =
    .en = time per output token, this alone varied
    .zh = 仅它变动时的每输出 token 时间

assumed-value =
    .en = assumed value
    .zh = 假设值

requests-as-printed =
    .en = requests, as printed
    .zh = 原表并发数

# number: the percentile of the column
latency-percentile =
    .en = latency, 99th percentile
    .zh = 延迟，第 99 百分位

in-flight-if-prompts-count =
    .en = in flight at most, if prompts count
    .zh = 在途请求数上限，若计入输入

in-flight-if-answers-alone =
    .en = in flight at most, if answers alone count
    .zh = 在途请求数上限，若只计输出

measured-by-others =
    .en = Measured by others: { $source }.
    .zh = 他人实测：{ $source }。
