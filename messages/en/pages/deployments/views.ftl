### Three views of a deployment side by side: what is printed, what follows, what was measured.

per-replica = , per replica
per-card = , per card
per-layer = , per layer
its-formula-its-inputs = its formula, its inputs
derived = derived
given-derived = given / derived
documented-is-what-document-prints = *Documented* is what a document prints.
its-formula-its-inputs-is = *Its formula, its inputs* is what the document's own formula gives on its own inputs.
# number: the intervals of all answers
derived-is-what-this-book = *Derived* is what this book's formulas give on [sourced inputs]({ $inputs }), with an 80% interval.
measured-is-of-same-workload = *Measured* is of the same workload; what is derived beside it is of the run that was made.
given-derived-is-number-over = *Given / derived* is the { $given } number over the derived one.
input = an input
exact = exact
no-range = no range
document-prints-no-result-for = The document prints no result for this deployment.
no-document-describes-this-deployment = No document describes this deployment.
end-to-end-latency-cannot = End-to-end latency cannot be derived: prompt and answer lengths are not stated.
decode-pool-has-no-first = A decode pool has no first token: prompts are prefilled elsewhere.
there-is-no-decode-run = There is no decode: the run ends with the first token.
we-know-of-no-published = We know of no published measurement of it.
or = { " " }or{ " " }
parts-in-labels = replica, card, device, layer
