### The answer, the three views of it, what would run instead, and the variants of a file.

this-page-shows-that-variant = This page shows that variant in full; [the others]({ $others }) follow.
where-document-formula-is-not = Where the document's formula is not ours, both, and the step that goes wrong:
what-goes-wrong = what goes wrong
document-formula = the document's formula
right-one = the right one
formulas-one-beside-other = The formulas, one beside the other
letters = The letters
to-receive-together-each-of = To receive { $together } together, each of the { $count } requests would need a token every { $each }. The estimate is { $pace } ({ $reach }).
document-also-describes-model-of = The document also describes a model of its own. Counted from the shapes it states, that model has { $total } parameters, { $total2 } times the { $printed } that it prints; the derived column uses the published configuration instead.
most-tokens-per-second-for = The most tokens per second for the same requests on the same cards, of { $tried } deployments, all that divide model and cards, in every precision that the cards multiply:
best-with-their-intervals = The best, with their intervals
memory-and-precision-allow-it = Memory and precision allow it as it is written.
what-would-run = What would run:
runtime-tried-every-valid-cut = The runtime tried every valid layout of the same cards in every precision they multiply, shorter chunks, fewer requests, a shorter context, and more cards of the same kind. These changes run, the nearest first; where cards are added, it is the fewest on which the requested precision runs.
every-change-that-was-found = Every change that was found
no-change-of-cut-precision = No change of cut, precision or number of cards was found to make it run.
what-document-prints-for-all = What the document prints for all of them together:
one-that-this-page-shows = The one that this page shows in full.
