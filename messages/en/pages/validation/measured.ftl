### Measured rows beside their predictions: tables and figures of one deployment's page.

sent = sent
at-once = at once
without-doubtful-rows = without doubtful rows
worst-row = worst (row)
# number: the intervals of all answers
in-interval = in the 80% interval
measured = { $metric }, measured
predicted-error = predicted (error)
requests-of-many-lengths = ‡ Requests of many lengths, of which only the mean is known.
doubt =
    † { $count ->
        [one] Row
       *[other] Rows
    } { $rows }: { $doubt }
legend-of-lengths = input tokens (line: predicted, dotted: floor)
prefill-throughput = prefill throughput
