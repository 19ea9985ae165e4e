### The whole bill of one request.

what = what one request takes
bytes = memory traffic of a card
operations = operations, all cards
collectives = all-reduces
energy = energy, all cards
money = money, US cents
whole = whole
prompt-step = the step of the prompt
one-step = each step of the answer
in-ms-prompt = input, ms
in-ms-step = output, ms
time-to-scale = What the steps of one request are made of
