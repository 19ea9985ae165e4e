### The documents' formulas beside the right ones, for the derivation that they belong to.

formula-right-under-conditions = 公式有条件成立
undefined = 无定义
documented =
    { $same ->
        [yes] 文档，与本书相同
       *[no] 文档
    }{ $reconstructed ->
        [yes] （文中只给结果）
       *[no] { "" }
    }：{ $formula }
right = 正确：{ $formula }
letters = 符号：{ $letters }。
letter = { $letter }：{ $meaning }
heading = **{ $title }**（{ $document }，{ $sections }）：*{ $verdict }*
quoted = “{ $name }”
result = { $where }：{ $numbers }。
section = 第 { $section } 节
section-by-name = “{ $name }”一节
printed = 文中 { $number }
recomputed =
    重算 { $number }{ $agrees ->
        [yes] { "" }
       *[no] （不符）
    }
corrected = 改正后 **{ $number }**
