### What documents say of settings, scripts, features and engines, beside what is known of each.

as-stated =
    .en = as stated
    .zh = 如文所述

no-difference =
    .en = no difference
    .zh = 写不写都一样

not-read =
    .en = takes no effect
    .zh = 未生效

does-not-start =
    .en = does not start
    .zh = 无法启动

worse-than-default =
    .en = worse than the default
    .zh = 不如不写

misses-its-purpose =
    .en = misses its purpose
    .zh = 达不到目的

not-so =
    .en = not so
    .zh = 与事实不符

depends =
    .en = depends
    .zh = 视情况

ascend =
    .en = Ascend
    .zh = 昇腾

where =
    .en = where
    .zh = 出处

why =
    .en = why
    .zh = 说明

feature =
    .en = feature
    .zh = 特性

name-in-vllm =
    .en = vLLM's name for it, since – until
    .zh = vLLM 中的名称，起 – 止

default-in-release =
    .en = default in { $newest }
    .zh = { $newest } 的默认值

document-has =
    .en = the document has
    .zh = 文档所述

releases-read =
    .en = releases read
    .zh = 已读取的版本

measured-with-deepseek-model-on =
    .en = measured with a DeepSeek model on
    .zh = 有 DeepSeek 模型实测的卡

place =
    .en = { $document } { $section }, line { $line }{ $claim }
    .zh = { $document } { $section } 节，第 { $line } 行{ $claim }

held-against =
    .en = Checked against: { $sources }.
    .zh = 对照：{ $sources }。
