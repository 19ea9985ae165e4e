### A deployment in short: verdict, what a user gets, how sure that is, and what to run instead.

own-cards = own cards
cards-rented-for-years = cards rented for years
cards-rented-by-hour = cards rented by the hour
both-pools = Both pools, { $cards } cards, { $users } requests in flight
in-flight =
    { $burst ->
        [yes] { $users } requests that arrive together
       *[no] In a steady state of { $users } requests in flight
    }
hypothetical-with-enough-memory = hypothetical, with enough memory
measured-and-how-far-off = { $found } [Every row]({ $where }).
move-it-in-calculators =
    <a href="{ $address }">Move it in the calculators</a>{ $lacks ->
        [yes] .{ " " }{ $without }
       *[no] { "" }
    }
million-output-tokens = a million output tokens, { $had }
nearest-that-runs = nearest that runs
most-tokens-per-second = most tokens per second
as-written = as written
four-bit-weights-are-read = 4-bit weights are read faster, but here they are multiplied in 16 bits, at a lower peak: the arithmetic of prefill takes longer.
