### A quantity of several deployments side by side: derived with its interval, and documented.

derived-and-documented = Derived and documented
# number: the intervals of all answers
points-are-derived-lines-their = { $heading }: points are derived, lines their 80% intervals, crosses documented.
# number: the intervals of all answers
derived-interval = derived, 80% interval
documented = documented
