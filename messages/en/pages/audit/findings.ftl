### What the documents' plans come to: which run, what runs instead, where an advantage ends.

users-at-exactly-any-hardware = { $users } users at exactly { $limit }, any hardware
# number: the cards of the plan
users-on-cards-of-document = { $users } users, its 32 H20 as they can run
goal-of-s1-for-users = the goal of S1 for { $users } users
yes = yes
no = no
as-written = as written
nothing-found = nothing found
runs-as-written = runs as written
throughput-printed = throughput printed
nearest-change-that-runs = nearest change that runs
gives-tpot = throughput; TPOT
best-of-search = best of a search
command-of-each-that-search = The command of each that a search found
every-other-plan = Every other deployment
recommended-does-not-run =
    { $plan } ({ $measured ->
        [yes] measured
       *[no] recommended
    }, section { $section }) **does not run: { $why }**. { $instead }
recommended-runs =
    { $plan } ({ $measured ->
        [yes] measured
       *[no] recommended
    }, section { $section }) **runs as written**, with { $spare } a card to spare.
each-card-is-short = each card is { $short } short
nothing-found-sentence = No change was found that runs.
best-of-its-cards = The fastest layout of the same cards in FP8, { $layout }, gives { $users } users { $rate } in a steady state with prompts, { $prompt } tokens in and { $answer } out.
change-with-spare = { $change }; { $spare } per device to spare
it-runs-with-change =
    It runs with { $change }{ $given ->
        [yes] : { $rate } for { $users } users, a token every { $pace }
       *[no] { "" }
    }{ $compared ->
        [yes] { " " }(printed: { $printed })
       *[no] { "" }
    }.
of-all-deployments =
    Of all { $plans } deployments that it describes, { $loads ->
        [0] none loads
        [one] one loads
       *[other] { $loads } load
    } as written{ $variants ->
        [0] { "" }
       *[other] ; of { $variants } variants that it only supposes, { $supposed } would
    }.
