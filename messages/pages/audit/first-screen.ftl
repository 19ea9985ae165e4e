### The first screen of a document: what runs, which parts can be used, the errors that matter.

sections-by-what-holds =
    .en = Claims by section: of each, how many hold
    .zh = 各章节成立的论断数

error =
    .en = **{ $consequence ->
            [stops] Does not run
            [decision] Wrong decision
           *[number] Wrong number
        }: { $title }.** { $what } { $claim }, { $of }: { $compared ->
            [limit] it holds for { $limit } only, and the figure is { $right }
            [yes] { $printed }, right { $right }{ $elsewhere ->
                [yes] {" "}on { $plan }
               *[no] {""}
            }
           *[no] { $printed }
        }.
    .zh = **{ $consequence ->
            [stops] 无法运行
            [decision] 决策失误
           *[number] 数值有误
        }：{ $title }**。{ $what }{ $claim } { $of }：{ $compared ->
            [limit] 须 { $limit } 才成立，实为 { $right }
            [yes] { $printed }，正确值 { $right }{ $elsewhere ->
                [yes] ，按 { $plan }计
               *[no] {""}
            }
           *[no] { $printed }
        }。
