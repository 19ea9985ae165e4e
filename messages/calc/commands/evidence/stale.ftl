### ``stale``: what of the catalogue is old, and of what it has a newer one itself.

help-kind =
    .en = only files of this kind
    .zh = 只看此类文件

help-older =
    .en = days from which on a date is old ({ $days })
    .zh = 日期距今达到多少天即视为陈旧（{ $days }）

help-as-of =
    .en = the day that ages are counted to, instead of today
    .zh = 计算时长的截止日期，默认今天

# only in .en: $name
column =
    .en = { $name }
    .zh = { $name ->
        [kind] 类别
        [file] 文件
        [key] 键
        [what] 来源或名称
        [date] 日期
       *[age] 天数
    }

total =
    .en = { $kind }: { $old } of { $dated } dated statements are old, { $superseded } have a newer one
    .zh = { $kind }：{ $dated } 条带日期的数据中，{ $old } 条陈旧，{ $superseded } 条已有更新

old =
    .en = At least { $days } days old on { $as_of }:
    .zh = 截至 { $as_of }，已达 { $days } 天：

releases =
    .en = Newest release of each engine in the catalogue:
    .zh = 目录中各引擎的最新版本：

superseded =
    .en = The catalogue has a newer one:
    .zh = 目录中已有更新的条目：

by =
    .en = { $file } { $key } ({ $date }): { $newer } { $name } ({ $when })
    .zh = { $file } { $key }（{ $date }）→ { $newer } { $name }（{ $when }）

no-days =
    .en = --older: '{ $text }' is no number of days, expected a whole number such as { $days }.
    .zh = --older：“{ $text }”不是天数，应为整数，如 { $days }。
