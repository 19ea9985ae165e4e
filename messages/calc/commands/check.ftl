### ``check``: every file of the catalogue, or those given, and what is wrong with each.

help-files =
    .en = params/KIND/NAME.yml or your own
    .zh = params/KIND/NAME.yml，或你自己的文件

checked =
    .en = { $count } { $one ->
        [yes] file
       *[no] files
    } checked, { $failed } with a problem.
    .zh = 已检查 { $count } 个文件，{ $failed } 个有问题。

# number: the line
stands-in =
    .en = { $where }: matrix_peak.{ $dtype }: '{ $name }' has no efficiency of { $dtype }, that of { $near } stands in with a wider range; mechanisms of your own (like: { $name }) can give it.
    .zh = { $where }：matrix_peak.{ $dtype }：'{ $name }' 没有 { $dtype } 的效率，以 { $near } 的代替并放宽范围；可在自己的 mechanisms（like: { $name }）中给出。

checks-unread =
    .en = { $where }: the checks of { $releases } are not read; run python -m tools.engines checks --only { $engine }.
    .zh = { $where }：尚未读取 { $releases } 的检查，请运行 python -m tools.engines checks --only { $engine }。

more =
    .en = { $count } more problems, which are told when these are mended.
    .zh = 另有 { $count } 个问题，改好以上各处后再列出。
