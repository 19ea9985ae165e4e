### Latent attention in its two orders of multiplication.

title = Expanded and absorbed latent attention
about = Two chains of products in one layer: expanded, { $expanded } elements are read per cached token, absorbed { $absorbed }.
expanded = Expanded (prefill)
absorbed = Absorbed (decode)
latent = cached latent
times-up = × key and value up-projections
keys-values = keys and values of all heads
scores = scores and sums per head
query-times-up = query × key up-projection
scores-on-latent = scores and sums on the latent
out-times-up = × value up-projection
takes = Per cached token: { $read } read in { $format }, { $score } FLOP for a query.
expands = Before any score: { $expand } FLOP per cached token, once for all queries.
expands-nothing = Nothing is computed per cached token before a score.
