### The first screen of a document: what runs, which parts can be used, the errors that matter.

sections-by-what-holds =
    .en = Claims by section: of each, how many hold
    .zh = 各章节成立的论断数

of-them-hold =
    .en = of them hold
    .zh = 成立比例

colours =
    .en = green holds, red does not, grey is open: { $right } of { $total } hold
    .zh = 绿色成立，红色不成立，灰色无法判定：{ $total } 条中成立 { $right } 条

strip-as-table =
    .en = Claims by section, as a table
    .zh = 各章节的论断（表格）

error =
    .en = **{ $consequence ->
            [stops] Does not run
            [decision] Wrong decision
           *[number] Wrong number
        }: { $title }.** { $what } { $claim }, { $of }: { $printed }{ $compared ->
            [yes] , right { $right }
           *[no] {""}
        }.
    .zh = **{ $consequence ->
            [stops] 无法运行
            [decision] 决策错误
           *[number] 数值错误
        }：{ $title }**。{ $what }{ $claim } { $of }：{ $printed }{ $compared ->
            [yes] ，正确值 { $right }
           *[no] {""}
        }。
