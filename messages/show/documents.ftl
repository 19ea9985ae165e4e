### The documents' formulas beside the right ones, for the derivation that they belong to.

formula-right-under-conditions =
    .en = formula right under conditions
    .zh = 公式有条件成立

undefined =
    .en = undefined
    .zh = 无定义

documented =
    .en = { $same ->
        [yes] Document, and this book
       *[no] Document
    }{ $reconstructed ->
        [yes] { " " }(only the result is printed)
       *[no] { "" }
    }: { $formula }
    .zh = { $same ->
        [yes] 文档，与本书相同
       *[no] 文档
    }{ $reconstructed ->
        [yes] （文中只给结果）
       *[no] { "" }
    }：{ $formula }

right =
    .en = Right: { $formula }
    .zh = 正确：{ $formula }

letters =
    .en = Letters: { $letters }.
    .zh = 符号：{ $letters }。

letter =
    .en = { $letter }: { $meaning }
    .zh = { $letter }：{ $meaning }

heading =
    .en = **{ $title }** ({ $document }, { $count ->
        [one] section
       *[other] sections
    } { $sections }): *{ $verdict }*
    .zh = **{ $title }**（{ $document }，{ $sections }）：*{ $verdict }*

quoted =
    .en = “{ $name }”
    .zh = “{ $name }”

result =
    .en = { $where }: { $numbers }.
    .zh = { $where }：{ $numbers }。

section =
    .en = Section { $section }
    .zh = 第 { $section } 节

section-by-name =
    .en = Section “{ $name }”
    .zh = “{ $name }”一节

printed =
    .en = printed { $number }
    .zh = 文中 { $number }

recomputed =
    .en = recomputed { $number }{ $agrees ->
        [yes] { "" }
       *[no] { " " }(differs)
    }
    .zh = 重算 { $number }{ $agrees ->
        [yes] { "" }
       *[no] （不符）
    }

corrected =
    .en = corrected **{ $number }**
    .zh = 改正后 **{ $number }**
