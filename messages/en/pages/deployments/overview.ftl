### The page of all deployments: its picture, its tables and the numbers of its sentences.

s0-plans-for-r1 = S0: plans for R1
s1-plans-for-v3 = S1: plans for V3
s2-measured = S2: measured
s3-measured = S3: measured
all-deployments-they-can-be = All deployments; they can be sorted and filtered
computed-as = model, computed as
token-s-printed = token/s, printed
# number: the intervals of all answers
derived-if-memory-sufficed = derived, if memory sufficed (80%)
other-deployments = The other deployments
