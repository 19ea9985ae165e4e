### The first screen of a document: what runs, which parts can be used, the errors that matter.

sections-by-what-holds =
    .en = Claims by section: of each, how many hold
    .zh = 各章节成立的论断数

of-them-hold =
    .en = of them hold
    .zh = 成立比例

strip-as-table =
    .en = Green: holds; red: does not; grey: cannot be decided. { $right } of { $total } claims hold, { $undecided } are undecided. As a table
    .zh = 绿色成立，红色不成立，灰色无法判定；全部 { $total } 条中成立 { $right } 条，无法判定 { $undecided } 条。表格形式

error =
    .en = - **{ $title }** ({ $consequence }). { $what } { $claim }, { $of }: { $printed }{ $known ->
            [yes] , right { $right }
           *[no] {""}
        }.
    .zh = - **{ $title }**（{ $consequence }）。{ $what }{ $claim } { $of }：{ $printed }{ $known ->
            [yes] ，正确值 { $right }
           *[no] {""}
        }。

errors-that-matter =
    .en = **What goes wrong**, the gravest first:

        { $errors }
    .zh = **错在哪里**，后果最重者在前：

        { $errors }
