### The elements of the page, each with a table for browsers that run no scripts.

calculator-of-this-page-needs = The calculator on this page needs JavaScript. Without it, use the table below, which covers common cards.
row = cards, precision, layout
# number: the intervals of all answers
value-of = { $what } (80%)
of-one-card = { $what }, per card
usd-per-hour-of-card = USD per card-hour
usd-per-million-prompt-tokens = USD per million prompt tokens
what-is-asked = what is asked
intensity-of = { $intensity }, { $phase }
