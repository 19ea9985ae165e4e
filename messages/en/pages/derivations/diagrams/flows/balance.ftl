### Load of every rank before and after experts are balanced, sorted, on one scale.

experts-before-and-after = Load of each rank before and after balancing
what-balancing-gains = Loads of { $ranks } ranks, sorted. With experts in index order the most loaded rank has { $before } times the mean; placed by measured load with { $spares } redundant experts, { $after } times.
index-order = index order: most loaded rank { $times } times the mean
placed-by-load = by measured load, { $spares } redundant experts: { $times } times
line-is-mean = line: the mean
