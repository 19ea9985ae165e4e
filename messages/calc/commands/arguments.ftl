### How arguments are read and explained, in either language; which there are, each command says.

error =
    .en = { $program }: { $message }.
    .zh = { $program }：{ $message }。

scenario =
    .en = identifier or path of a scenario file
    .zh = 场景文件的标识或路径

set =
    .en = override, as for estimate
    .zh = 覆盖取值，写法同 estimate

usage =
    .en = usage:{ " " }
    .zh = 用法：

positional =
    .en = positional arguments
    .zh = 位置参数

options =
    .en = options
    .zh = 选项

help =
    .en = show this help message and exit
    .zh = 显示本帮助并退出

argument =
    .en = argument %(argument_name)s: %(message)s
    .zh = 参数 %(argument_name)s：%(message)s

unrecognized =
    .en = unrecognized arguments: %s
    .zh = 无法识别的参数：%s

not-allowed-with =
    .en = not allowed with argument %s
    .zh = 不能与 %s 同时使用

ignored =
    .en = ignored explicit argument %r
    .zh = 不接受取值 %r

required =
    .en = the following arguments are required: %s
    .zh = 缺少必需的参数：%s

one-required =
    .en = one of the arguments %s is required
    .zh = 须给出 %s 之一

one-expected =
    .en = expected one argument
    .zh = 应有一个取值

at-most-one =
    .en = expected at most one argument
    .zh = 至多一个取值

at-least-one =
    .en = expected at least one argument
    .zh = 至少一个取值

ambiguous =
    .en = ambiguous option: %(option)s could match %(matches)s
    .zh = 选项 %(option)s 有歧义，可能是 %(matches)s

invalid-value =
    .en = invalid %(type)s value: %(value)r
    .zh = %(value)r 不是有效的 %(type)s

invalid-choice =
    .en = invalid choice: %(value)r (choose from %(choices)s)
    .zh = %(value)r 无效，可选 %(choices)s

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
