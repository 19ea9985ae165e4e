### One request on two cards with experts on the host: its wait, and what is printed of it.

prompt = prompt
fewer-cards = fewer cards
per-card-two-cards = per card, two cards
per-card-eight-cards = per card, eight cards
advantage-per-card = advantage per card
time-to-first-token-ratio = time to first token, ratio
time-per-output-token-ratio = time per output token, ratio
rate-of-one-request-ratio = rate of one request, ratio
largest-throughput-ratio = largest throughput, ratio
time-per-output-token-of = time per output token of one request, from its latency
rate-of-one-request-from = rate of one request, from its latency
time-per-output-token-of-one = time per output token of one request, at all lengths
weights-in-bits = weights in 16 bits
weights-in-host-memory = weights in host memory
weights-on-both-cards = weights on both cards
from-its-other-numbers-or = from its other numbers, or counted
