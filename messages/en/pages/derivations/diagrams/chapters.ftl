### The chapters of the book, and which of them hands its formulas to which.

parameters = Parameters
counted-from-shapes = counted from shapes
memory = Memory
what-card-holds-and-reads = what a card holds and reads
compute = Compute
operations-of-step = operations of a step
communication = Communication
what-cards-send = what cards send
latency = Latency
how-long-step-takes = how long a step takes
throughput = Throughput
tokens-per-second = tokens per second
serving = Serving
what-user-waits-for = what a user waits for
deciding = Deciding
operating = Operating
evidence = Evidence
what-feeds-what = What feeds what
how-chapters-depend = { $chapters } chapters of derivations. A chapter uses quantities that others derive; most often { $uses }. Deciding, operating and evidence rest on all of them.
used-further-on = used further on
used-further-up = used further up
computed-second-time = computed a second time by an independent program
each-box-is-link = each box is a link
use = { $of } → { $to } ({ $count })
