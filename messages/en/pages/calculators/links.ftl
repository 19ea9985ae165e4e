### From a deployment to the calculators: in its state, or in the nearest with what it lacks.

they-do-not-know-experts = They do not know experts on the host: they start with all of them on the cards.
they-do-not-hold-all = They do not hold all of its inputs: they start from the nearest state.
they-do-not-take-its = They do not take its precision, { $asked }: they start in { $other }.
