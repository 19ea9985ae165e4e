### What a command is told of the lengths of requests: a distribution, or a file that lists them.

help-lengths =
    .en = of prompts and answers: constant, exponential or lognormal about the scenario's, or a CSV file of input and output tokens by line; by default as the scenario has it; where it has nothing, formulas take equal ones, a simulation lognormal ones that vary as those of public traffic do
    .zh = 输入与输出的长度：以场景所写为均值的 constant、exponential 或 lognormal 分布，或每行写输入与输出 token 数的 CSV 文件；缺省按场景；场景未写时，公式取等长，仿真取 lognormal，离散程度同公开流量

help-variation =
    .en = of lognormal lengths: standard deviation over mean
    .zh = lognormal 长度的标准差与均值之比

no-such =
    .en = --lengths { $text }: there is no such distribution and no such file, the nearest is { $near }.
    .zh = --lengths { $text }：没有这种分布，也没有这个文件，最接近的是 { $near }。

# number: the least
no-request =
    .en = { $path }:{ $line }: '{ $text }' is no request, expected input and output tokens, whole numbers of at least 1.
    .zh = { $path }:{ $line }：'{ $text }' 不是请求，应为输入与输出 token 数，均为不小于 1 的整数。

no-requests =
    .en = { $path }: there are no requests, expected input and output tokens on each line.
    .zh = { $path }：没有请求，每行应为输入与输出 token 数。

all-equal =
    .en = all equal
    .zh = 全部相同

lengths-vary =
    .en = { $distribution }, standard deviation over mean { $prompts } of prompts and { $answers } of answers, { $stated ->
        [yes] as stated
       *[no] as in { $usual }; nothing is stated
    }
    .zh = { $distribution }，标准差与均值之比：输入 { $prompts }、输出 { $answers }，{ $stated ->
        [yes] 如所述
       *[no] 未给出，取自 { $usual }
    }
