### One step laid out in time: one batch, two micro-batches in turn, and two streams.

requests-per-card = { $ranks } × { $card }, { $requests } requests per card
step-in-three-ways = A step in one batch, two micro-batches and two streams
how-steps-are-laid-out = One batch computes and communicates in turn, { $whole }. Two micro-batches compute { $again } ms longer, because each reads the weights, communicate { $resent } ms longer, because each pays the latencies, and hide { $hidden } ms: { $split }. In two streams each half goes through all its parts: { $streams }.
one-batch = one batch
two-micro-batches-in-turn = two micro-batches, in turn
what-halves-cost = +{ $again } ms computation, +{ $resent } ms communication, { $saved } hidden
two-streams-half-each = two streams, a half each
attention-and-rest-on-card = attention and the rest, on the card
experts-on-card = experts, on the card
links-dispatch-and-combine = links: dispatch and combine
between-steps = between steps
