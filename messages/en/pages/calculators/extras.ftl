### What a state may set besides its fields: mechanisms, and how an engine works, by key of a file.

share-of-peak-of-matmuls = share of the peak of matmuls
share-of-peak-of-whole = share of the peak of whole experts
share-of-peak-of-slices = share of the peak of slices of experts
time-of-matmul-per-input = time of a matmul per input summed over
only-longest-context-is-known = only the longest context is known: every request one token from its end
how-steps-are-filled = how steps are filled
decode-runs-as-captured-graph = decode runs as a captured graph
how-experts-are-placed = how experts are placed
prompts-and-decodes-mixed = prompts and decodes mixed
prompts-first = prompts first
by-measured-load = by measured load
equal-shares = equal shares
of-type = { $name }, { $type }
# number: the values of a truth, as names of symbols end
truth = (0 or 1)
