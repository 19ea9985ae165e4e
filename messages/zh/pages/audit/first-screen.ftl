### The first screen of a document: what runs, which parts can be used, the errors that matter.

sections-by-what-holds = 各章节成立的论断数
error = **{ $consequence ->
        [stops] 无法运行
        [decision] 决策失误
       *[number] 数值有误
    }：{ $title }**。{ $what }{ $claim } { $of }：{ $compared ->
        [limit] 须 { $limit } 才成立，实为 { $right }
        [yes]
            { $printed }，正确值 { $right }{ $elsewhere ->
                [yes] ，按 { $plan }计
               *[no] { "" }
            }
       *[no] { $printed }
    }。
