### ``engines``: which arguments, variables and metrics an engine has in which release.

help-name =
    .en = vllm, vllm-ascend or sglang; without it, all
    .zh = vllm、vllm-ascend 或 sglang；不给则列出全部

help-flag =
    .en = an argument (without its dashes), environment variable or metric: its history
    .zh = 参数（不带前导短横）、环境变量或指标：查其历史

help-release =
    .en = only what this pinned release has
    .zh = 只看此固定版本所有的

kind =
    .en = { $name }
    .zh = { $name ->
        [argument] 参数
        [arguments] 参数
        [variable] 环境变量
        [variables] 环境变量
        [option] 附加选项
        [options] 附加选项
        [metric] 指标
       *[metrics] 指标
    }

range =
    .en = { $count }, { $first } to { $last }
    .zh = { $count } 个，{ $first } 至 { $last }

since =
    .en = since
    .zh = 始于

until =
    .en = until
    .zh = 止于

what-there =
    .en = what it is there
    .zh = 该版本中的定义

# only in .en: $key
state =
    .en = { $key } { $value }
    .zh = { $key ->
        [type] 类型
        [default] 默认值
        [choices] 可选值
        [aliases] 别名
        [negatable] 可否定
        [dynamic] 动态
        [deprecated] 已弃用
        [use] 改用
        [known] 已知取值
        [v0] V0
        [open_choices] 可选值未尽
        [required] 必需
       *[hidden] 隐藏
    } { $value }

last-release =
    .en = the last pinned release that has it
    .zh = 最后一个有它的固定版本

still-there =
    .en = still there
    .zh = 至今仍有
