### The tables of the page on errors, a call each.

predicted-measured-median =
    .en = predicted/measured, median
    .zh = 预测/实测，中位数

in-interval =
    .en = in the interval
    .zh = 落入区间

high-low =
    .en = high/low
    .zh = 上下限之比

roofline-measured =
    .en = roofline/measured
    .zh = 屋顶线/实测

predictions =
    .en = predictions
    .zh = 预测数

high-low-median =
    .en = high/low, median
    .zh = 上下限之比，中位数

interval-score =
    .en = interval score
    .zh = 区间得分

own-error-below =
    .en = formulas' own error, below
    .zh = 自身误差，向下

above =
    .en = the same, above
    .zh = 向上

of-row =
    .en = spread within a system
    .zh = 同一系统内

prefill-rate =
    .en = prefill throughput
    .zh = 预填充速率

row-numbers =
    .en = rows
    .zh = 行号

why-they-are-suspect =
    .en = why they are suspect
    .zh = 为何存疑

rows-that-contradict =
    .en = Rows that contradict others or themselves
    .zh = 与其他行或与自身矛盾的行

errors-by-requests-and-length =
    .en = Errors by requests and by length of the prompt
    .zh = 按并发与输入长度看误差

# number: the intervals of all answers
fitted-value =
    .en = fitted (80%)
    .zh = 拟合值（80%）

before =
    .en = prior value
    .zh = 先验值

inside =
    .en = inside its range
    .zh = 在范围内

all-inside =
    .en = all inside
    .zh = 都在范围内

fitted-to-each-band =
    .en = Fitted to each band of lengths alone
    .zh = 按输入长度分段各自拟合

without-suspect-rows =
    .en = without suspect rows
    .zh = 不含存疑行

which-rows =
    .en = rows
    .zh = 行

protocol =
    .en = protocol
    .zh = 验证方式

our-worst-row =
    .en = our worst row
    .zh = 本书最差的一行

no-time-is-left =
    .en = no time is left
    .zh = 没有剩余时间

ttft-s =
    .en = TTFT (s)
    .zh = TTFT（s）

core-over-peak-at-least =
    .en = core over peak, at least
    .zh = 注意力核心速率 ÷ 峰值，至少

with-fitted-constant =
    .en = with the fitted constant
    .zh = 扣除拟合出的常数后的比值

ttft-of-one-request-s =
    .en = TTFT of one request (s)
    .zh = 单请求 TTFT（s）

second-prompt-over-first =
    .en = second prompt over first
    .zh = 第二条 ÷ 第一条

later-model-system-by-system =
    .en = DeepSeek-V3.2, system by system
    .zh = DeepSeek-V3.2，逐个系统

system-by-system =
    .en = System by system
    .zh = 逐个系统

ours =
    .en = ours
    .zh = 本书

number-by-number =
    .en = Number by number
    .zh = 逐个数字

# number: the intervals of all answers
rows-inside-their-interval =
    .en = rows inside their 80% interval
    .zh = 类别（格中：落入 80% 区间的行数 / 总行数）

systems =
    .en = systems
    .zh = 系统数

nothing-fitted =
    .en = class of rows, nothing fitted
    .zh = 不作拟合

nothing-fitted-by-class =
    .en = Nothing fitted, by class: coverage, width, score and own error
    .zh = 不作拟合，逐类：覆盖、宽度、得分与自身误差

calibrated =
    .en = calibrated
    .zh = 已标定

fits-inside-their-ranges =
    .en = fits inside their ranges
    .zh = 参数在范围内的拟合

calibrated-by-protocol =
    .en = Calibrated, by protocol
    .zh = 已标定，按验证方式

which-fit =
    .en = { $system }; { $metric }{ $left_out ->
        [yes] , without suspect rows
       *[no] { "" }
    }
    .zh = { $system }；{ $metric }{ $left_out ->
        [yes] ，有剔除
       *[no] { "" }
    }

ages =
    .en = On { $date }, { $old } of { $values } dated statements of the catalogue were older than a year. The newest releases of the { $engines } engines in it are of { $first } to { $date }; later releases are not known to it.
    .zh = 截至 { $date }，目录中 { $values } 条有日期的数据里，{ $old } 条已超过一年。所收 { $engines } 个引擎的最新版本日期为 { $first } 至 { $date }；此后发布的版本，目录并不知道。
