### The first screen of a document: what runs, which parts can be used, the errors that matter.

sections-by-what-holds = Claims by section: of each, how many hold
error = **{ $consequence ->
        [stops] Does not run
        [decision] Wrong decision
       *[number] Wrong number
    }: { $title }.** { $what } { $claim }, { $of }: { $compared ->
        [limit] it holds for { $limit } only, and the figure is { $right }
        [yes]
            { $printed }, right { $right }{ $elsewhere ->
                [yes] { " " }on { $plan }
               *[no] { "" }
            }
       *[no] { $printed }
    }.
