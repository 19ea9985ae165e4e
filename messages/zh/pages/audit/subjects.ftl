### What claims are about, and of which subjects most hold: the one sentence on what can be used.

cards-links-hosts = 硬件参数
settings = 设置
memory = 显存占用
alarms = 告警
counts-and-ratios = 数量与比例
with-count = { $subject }（{ $held }/{ $count }）
most-of = { $subjects }**大多可用**
some-of = { $subjects }**部分可用**
few-of = { $subjects }**基本不可用**
none-of = { $subjects }**全不可用**
what-can-be-used = **哪些可以采用**（{ $total } 条论断中成立 { $held } 条）：{ $parts }。
