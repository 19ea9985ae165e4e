### The deployments of one scenario file side by side: a table, a picture, a pair of pools.

does-not-fit =
    { $fits ->
        [yes] fits
       *[no] **does not fit**
    }, { $size }
documented-derived = documented / derived
# number: the intervals of all answers
derived = { $name }, derived (80%)
prefill-pool-finishes-requests-per =
    The prefill pool finishes { $prefill } requests per second and the decode pool { $decode }: { $binds ->
        [transfer] the transfer between them
       *[other] { $binds }
    } decides
document-prints = { $text2 }; the document prints { $text }
for-requests-of-and-tokens = For requests of { $lengths } and { $lengths2 } tokens the pools are in balance with { $cards } of the { $cards2 } cards for prefill, which gives { $best }; in whole groups of ranks, { $groups } and { $groups2 } are best. The cache of a request is sent in { $sent }.
