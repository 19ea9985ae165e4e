### The page of the engines: the settings that documents print, held against every pinned release.

arguments =
    .en = arguments
    .zh = 命令行参数

variables =
    .en = variables
    .zh = 环境变量

keys =
    .en = keys
    .zh = 配置键

metrics =
    .en = metrics
    .zh = 指标

default =
    .en = default
    .zh = 默认值

choices =
    .en = choices
    .zh = 可选值

listed-values =
    .en = listed values
    .zh = 列出的值

negated-form =
    .en = `--no-` form
    .zh = `--no-` 形式

aliases =
    .en = aliases
    .zh = 别名

deprecated =
    .en = deprecated
    .zh = 弃用

set-at-run-time =
    .en = set at run time
    .zh = 运行时决定

hidden =
    .en = hidden
    .zh = 隐藏

required =
    .en = required
    .zh = 必填

v0-only =
    .en = V0 only
    .zh = 仅 V0

counter =
    .en = counter
    .zh = 计数器

gauge =
    .en = gauge
    .zh = 瞬时值

histogram =
    .en = histogram
    .zh = 直方图

info =
    .en = info
    .zh = 信息

summary-metric =
    .en = summary
    .zh = 摘要

uploaded =
    .en = uploaded
    .zh = 发布日期

pinned-releases =
    .en = The pinned releases, with what was found in each
    .zh = 各选定版本及其中的条目数

document-section =
    .en = document: section
    .zh = 文档：章节

similar-name =
    .en = similar name
    .zh = 相近的名称

refused-in =
    .en = refused in { $section }
    .zh = { $section } 节中被拒绝的参数

entry =
    .en = entry
    .zh = 条目

stands-in =
    .en = in
    .zh = 出处

since =
    .en = since
    .zh = 起

until =
    .en = until
    .zh = 止

default-first-last =
    .en = default, first → last
    .zh = 默认值（最初 → 最后）

changed-in =
    .en = changed in
    .zh = 变更

document-engine =
    .en = document: engine
    .zh = 文档：引擎

setting-and-value =
    .en = setting and value
    .zh = 设置与取值

refused-from-to-releases =
    .en = refused from – to (releases)
    .zh = 拒绝：起 – 止（版本数）

taken-from-to-releases =
    .en = accepted from – to (releases)
    .zh = 接受：起 – 止（版本数）

what-last-refusing-release-takes =
    .en = what the last refusing release accepts
    .zh = 最后一个拒绝它的版本接受的值

remark =
    .en = note
    .zh = 说明

at-run-time =
    .en = at run time
    .zh = 运行时决定

taken =
    .en = taken
    .zh = 取值

changed =
    .en = { $what }: { $releases }
    .zh = { $what }：{ $releases }

use-instead =
    .en = use `{ $use }`
    .zh = 改用 `{ $use }`

shown-only-on-demand =
    .en = shown only on demand
    .zh = 默认不显示

v0-engine-only =
    .en = V0 engine only
    .zh = 仅 V0 引擎
