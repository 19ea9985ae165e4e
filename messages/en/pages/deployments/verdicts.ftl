### A deployment's answer in sentences: does it work, how far off is it, why, what a user gets.

prompt-throughput = prompt throughput
it-fits-but-this-card = **It fits, but this card cannot run it in the precision asked for**
it-fits-with-to-spare = **It fits**, with { $spare } to spare on the fullest card{ $unsure ->
        [yes] { " " }(over the ranges of all inputs in { $often } of the draws)
       *[no] { "" }
    }
it-does-not-run = **It does not run as asked**: { $why }
nor-can-card-run-it = , nor can the card run it in this precision
it-does-not-fit-times = **It does not fit**: { $alone ->
        [yes] weights alone come to { $needed } per card
       *[no] a card would have to hold { $needed }
    }, { $factor } times the { $usable } that an engine may use{ $also }
is-bound-by = ; { $kind } is bound by { $bound }
document-prints-times-that =
    ; the document { $aims ->
        [yes] aims at
       *[no] prints
    } { $text }{ $each }, { $less ->
        [yes] { $share } of that
       *[no] { $share } times that
    }
were-measured-within-of-it = ; { $text } were measured, within { $same } of the estimate for that run
were-measured-so-it-is =
    ; { $text } were measured{ $outside ->
        [yes] , outside the interval
       *[no] { "" }
    }; the estimate for that run, { $ours }, is { $size } too { $off_above ->
        [yes] high
       *[no] low
    }
measured-outside-interval =
    { $kind } { $single ->
        [yes] { "" }
       *[no]
            in { $outside } of { $rows } runs, { $above ->
                [yes] up to
               *[no] down to
            }{ " " }
    }{ $ratio } times the prediction
measured-values-lie-outside = **Measured outside its predicted interval**: { $told }.
there-is-room-for-requests =
    There is room for { $room } requests of { $length } tokens at once; { $many } { $single ->
        [yes] is
       *[no] are
    } asked for.
prompt-and-answer-lengths-are = { $speed } Prompt and answer lengths are not stated: the first token follows a prompt of { $prompt } tokens; decode is counted alone, at { $decoded } tokens of context and without stalls from other requests' prefill.
of-requests-in-flight = In a steady state of { $requests } requests in flight, each
sent-at-once = Sent all at once (a burst), each
in-a-benchmark = A benchmark with `--max-concurrency { $requests }`, which starts with such a burst, shows the mean: each
of-requests-that-arrive-at = Of { $requests } requests that arrive at once, each
each-of-requests = Each of { $requests } requests
single-request = A single request
reading-weights-and-cache-alone = Reading weights and cache alone takes at least { $text } per token.
estimated-at =
    ; { $short ->
        [yes] with enough memory the { $kind } would be
       *[no] the { $kind } is estimated at
    } **{ $value }** ({ $reach })
times-are-hypothetical = Times of this deployment are hypothetical: they assume the same layout on cards that differ only in having enough memory.
waits-for-first-token =
    waits { $value } for its first token{ $many ->
        [yes] { " " }on average
       *[no] { "" }
    }
gets-token-every =
    { $first ->
        [yes] and gets a further one
       *[no] gets a token
    } every { $value }
together =
    ; together { $value }{ $output ->
        [yes] { "" }
       *[no] { " " }of prompts
    }.
that-is = : { $value }.
