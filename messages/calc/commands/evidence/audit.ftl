### ``audit``: every claim of the documents with a computed verdict, and what is right instead.

help-document =
    .en = claims of this document only
    .zh = 只看此文档的论断

help-verdict =
    .en = with this verdict only, or with this beside it
    .zh = 只看此结论，或附带此结论的

help-cause =
    .en = explained by this cause only
    .zh = 只看由此原因解释的

# number: an example
help-claim =
    .en = this claim only, such as S1-046
    .zh = 只看此论断，例如 S1-046

help-contradictions =
    .en = claims that exclude each other, instead of counts
    .zh = 改为列出相互矛盾的论断

none-such =
    .en = { $option }: there is none, the nearest are { $names }.
    .zh = { $option }：没有这一项，最接近的是 { $names }。

claims =
    .en = { $document }: { $count } claims: { $listed }
    .zh = { $document }：{ $count } 条论断：{ $listed }

# only in .zh: $words
counted =
    .en = { $count } { $name }
    .zh = { $name }（{ $words }）{ $count }

causes =
    .en = Causes: { $listed }
    .zh = 原因：{ $listed }

# only in .zh: $title
cause =
    .en = { $name } { $count }
    .zh = { $name }（{ $title }）{ $count }

claim =
    .en = { $id } [{ $section }] { $what }: { $documented }: { $verdict }{ $also ->
        [yes] { " " }({ $others })
       *[no] { "" }
    }. { $why }
    .zh = { $id } [{ $section }] { $what }：{ $documented }：{ $verdict }{ $also ->
        [yes] （{ $others }）
       *[no] { "" }
    }。{ $why }

# only in .en: $plain
verdict =
    .en = { $plain }
    .zh = { $name ->
        [reproduced] 可复现
        [compatible] 在区间内
        [specification] 规格
        [arithmetic-error] 算术错误
        [wrong-input] 输入错误
        [wrong-formula] 公式错误
        [wrong-input-and-formula] 输入与公式均错
        [contradicts] 自相矛盾
        [infeasible] 部署不可行
        [setting] 设置
        [threshold] 阈值
        [assumption] 假设
        [unverifiable] 无法核实
        [right] 正确
        [wrong] 错误
        [binary-unit] GB 实为 GiB
        [always-fires] 一直告警
        [may-fire] 可能误报
        [sound] 合理
        [never-fires] 从不触发
        [too-late] 过迟
        [accepted] 有效
        [deprecated] 已弃用
        [unlisted] 取值未列出
        [choice] 无此选项
        [type] 类型不符
        [unknown] 无此设置
        [ELSEW] 不在目录
       *[other] { $plain }
    }

contradictions =
    .en = { $count } contradictions: { $listed }
    .zh = 矛盾 { $count } 处：{ $listed }

of-kind =
    .en = { $kind ->
        [values] { $count } of one quantity with two values
        [numbers] { $count } of numbers that cannot hold together
       *[other] { $count } of a setting set twice
    }
    .zh = { $kind ->
        [values] 同一量取值不同 { $count }
        [numbers] 数值关系不成立 { $count }
       *[other] 同一设置项取值不同 { $count }
    }

contradiction =
    .en = { $id } { $kind ->
        [values] one quantity
        [numbers] law
       *[other] setting
    }: { $name }: { $said }{ $some ->
        [yes] ; holds: { $right }
       *[no] { "" }
    }
    .zh = { $id } { $kind ->
        [values] 同一量
        [numbers] 应有关系
       *[other] 设置项
    }：{ $name }：{ $said }{ $some ->
        [yes] ；成立：{ $right }
       *[no] { "" }
    }
