### What claims are about, and of which subjects most hold: the one sentence on what can be used.

cards-links-hosts =
    .en = cards and links
    .zh = 硬件参数

settings =
    .en = settings
    .zh = 设置

memory =
    .en = memory of cards
    .zh = 显存占用

alarms =
    .en = alarms
    .zh = 告警

counts-and-ratios =
    .en = counts and ratios
    .zh = 数量与比例

with-count =
    .en = { $subject } ({ $held }/{ $count })
    .zh = { $subject }（{ $held }/{ $count }）

most-of =
    .en = **most** claims on { $subjects }
    .zh = { $subjects }**大多可用**

some-of =
    .en = **some** on { $subjects }
    .zh = { $subjects }**部分可用**

few-of =
    .en = **hardly any** on { $subjects }
    .zh = { $subjects }**基本不可用**

none-of =
    .en = **none** on { $subjects }
    .zh = { $subjects }**全不可用**

what-can-be-used =
    .en = **What can be used** ({ $held } of { $total } claims hold): { $parts }.
    .zh = **哪些可以采用**（{ $total } 条论断中成立 { $held } 条）：{ $parts }。
