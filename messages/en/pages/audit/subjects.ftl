### What claims are about, and of which subjects most hold: the one sentence on what can be used.

cards-links-hosts = cards and links
settings = settings
memory = memory of cards
alarms = alarms
counts-and-ratios = counts and ratios
with-count = { $subject } ({ $held }/{ $count })
most-of = **most** claims on { $subjects }
some-of = **some** on { $subjects }
few-of = **hardly any** on { $subjects }
none-of = **none** on { $subjects }
what-can-be-used = **What can be used** ({ $held } of { $total } claims hold): { $parts }.
