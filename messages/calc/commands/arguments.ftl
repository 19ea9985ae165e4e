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
