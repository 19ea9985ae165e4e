### What stands in for an efficiency that a card's class of mechanisms has no prior of.

no-prior-of-at-best =
    .en = No prior of { $dtype }: at best the share that { $name } reaches, at worst no faster than { $name }; the middle of both, in logarithms.
    .zh = 没有 { $dtype } 的先验值：最好与 { $name } 的利用率相同，最差不比 { $name } 更快，取两者的对数中点。
