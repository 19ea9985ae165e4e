### The memory of one rank, to scale: what is cut among ranks and what each of them has whole.

# number: one of the parts
of-parts = 1 of { $ranks } parts
replicated = replicated
dense-and-shared-experts = dense and shared experts
embedding-and-head = embedding and head
down-projections-router-norms = down-projections, router, norms
latent-cache = latent cache
of-step = of a step
runtime = runtime
reserved = reserved
one-rank-of-to-scale = One rank of { $plan }, to scale
what-is-taken = { $used } of { $capacity } are taken; { $copied } are replicated on every rank of the tensor-parallel group. From the bottom: { $listed }.
one-of-its-ranks-on = one of its ranks on { $card }
free = free
divided-among-ranks = divided among ranks
replicated-on-every-rank = replicated on every rank
other = other
size-of-part = { $part } { $size }
