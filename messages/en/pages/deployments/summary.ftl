### All deployments of the documents on one page: a row and a line of the picture for each.

ttft-of-prompt-pools = TTFT, of prompt pools
does-not-fit = **does not fit**
not-in-this-precision = **not in this precision**
fits = fits
fits-speed-holds = fits; speed agrees
fits-too-slow = fits; **too slow**
fits-faster = fits; faster
fits-in-interval = fits; in the interval
fits-outside = fits; **outside**
printed-goal =
    { $text }{ $of }{ $goal ->
        [yes] { " " }(goal)
       *[no] { "" }
    }
printed = printed
cards-cut-precision = cards, layout, precision
token-s = token/s, { $heading }
# number: the intervals of all answers
derived = derived (80%)
tpot-in-ms = TPOT in ms, { $heading }
usable = usable
as-derived = as derived
memory-needed-usable =
    memory needed /
    usable
speed-printed-or-measured-derived =
    speed printed or
    measured / derived
does-not-fit-or-not = does not fit, or not in this precision
hollow-goal = hollow: a goal
# how names of cards may begin; parted by bars
makers = NVIDIA|Ascend
