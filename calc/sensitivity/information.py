"""Which input is worth measuring before one decides, in what the decision is paid in.

A decision is taken for the least expected loss. With perfect information one would take the best
in every case: the expected difference is the most that any measurement can be worth (EVPI). Of one
input alone (EVPPI) the best is taken for each value of it, all others as unknown as before. Draws
are sorted by the input and cut into bins of the same size, in each of which the expected losses are
means; so EVPI >= EVPPI >= 0 holds exactly. What a bin's own scatter feigns is told as well: the
same of shuffled draws.

Source: Strong and Oakley, An efficient method for computing single-parameter partial expected
value of perfect information (2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from calc.sensitivity.plans import CARD_HOURS, Plan, sign_of
from calc.sensitivity.sobol import SEED, priors, scores_of
from catalogue import ParamsError

CARDS = "cards"  # what a purchase is counted in
DRAWS, BINS, SHUFFLES = 1 << 14, 32, 4
RATE = "output_throughput"
ENDS = (0.1, 0.5, 0.9)  # of the cases, that are told of a purchase
DEAREST = 1000.0  # price of a card that was missing, over that of one bought in time
MOST_STEPS = 4096  # sizes of a purchase that are compared


@dataclass(frozen=True)
class Worth:
    """What knowing an input is worth.

    Attributes:
        name: of the input; of the formulas' own error: what running the deployment tells.
        value: expected loss that is avoided, in the unit of the losses.
        scatter: what the same bins give of shuffled draws: nothing below that is told apart from 0.
        changes: share of the cases in which the decision is another one [1].
    """

    name: str
    value: float
    scatter: float
    changes: float


@dataclass(frozen=True)
class Information:
    """A decision, and what would better it.

    Attributes:
        options: what could be done.
        losses: expected loss of each.
        taken: the best of them now.
        perfect: expected loss that perfect information avoids (EVPI).
        wrong: share of the cases in which another one turns out better [1].
        worths: of each input, the most first.
        draws: that all of it rests on.
        needed: of a purchase: cards that suffice in a tenth, half and nine tenths of all cases [1].
    """

    options: tuple[str, ...]
    losses: tuple[float, ...]
    taken: int
    perfect: float
    wrong: float
    worths: tuple[Worth, ...]
    draws: int
    needed: tuple[float, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"taken": self.options[self.taken]}


def information(losses: np.ndarray, scores: np.ndarray, names: Sequence[str],
                options: Sequence[str], kinds: np.ndarray | None = None) -> Information:
    """What a decision loses by what is not known.

    >>> score = np.linspace(-1, 1, 4096)
    >>> result = information(np.stack([score, -score], axis=1), score[:, None], ["x"], ["a", "b"])
    >>> round(result.perfect, 2), round(result.worths[0].value, 2)
    (0.5, 0.5)

    Args:
        losses: of every option in every draw, shape (draws, options); or in every kind of draw.
        scores: of every input, shape (draws, inputs); only their order counts.
        names: of the inputs.
        options: what could be done.
        kinds: of which row of ``losses`` each draw is, shape (draws,); its own if absent.
    """
    count = len(scores) // BINS * BINS
    kinds, scores = (np.arange(count) if kinds is None else kinds[:count]), scores[:count]
    often = np.bincount(kinds, minlength=len(losses)) / count
    expected = often @ losses
    taken = int(expected.argmin())
    missed = losses[:, taken] - losses.min(axis=1)
    shuffle = np.random.default_rng(SEED).permutation
    scatter = max(_partial(losses, kinds[shuffle(count)], taken)[0] for _ in range(SHUFFLES))
    worths = []
    for column, name in enumerate(names):
        order = np.argsort(scores[:, column], kind="stable")
        value, changes = _partial(losses, kinds[order], taken)
        worths.append(Worth(name, value, scatter, changes))
    return Information(tuple(options), tuple(map(float, expected)), taken, float(often @ missed),
                       float(often @ (missed > 0)),
                       tuple(sorted(worths, key=lambda worth: -worth.value)), count)


def _partial(losses: np.ndarray, kinds: np.ndarray, taken: int) -> tuple[float, float]:
    """What is avoided if the bin of a draw is known, and how often that changes the decision.

    Draws are in the order of what is known; a product with how often a bin has each of their kinds
    is many times as fast as the means of their losses.
    """
    size = len(losses)
    cells = np.repeat(np.arange(BINS), len(kinds) // BINS) * size + kinds
    often = np.bincount(cells, minlength=BINS * size).reshape(BINS, size) * (BINS / len(kinds))
    means = often @ losses
    avoided = means[:, taken] - means.min(axis=1)
    return float(avoided.mean()), float((avoided > 0).mean())


def between(first: Plan, second: Plan, name: str = CARD_HOURS, price: float = 1.0,
            draws: int = DRAWS) -> Information:
    """What it is worth to know more before choosing between two plans.

    Args:
        first, second: the plans.
        name: the quantity that decides, less or more of it being better.
        price: of one unit of it: of a card-hour, a currency.
        draws: from the priors of all their inputs, a power of two.
    """
    prior = priors([first, second], name)
    scores = _scores(len(prior.names), draws)
    losses = [sign_of(name) * price * prior.sample(plan, scores, name, which)
              for which, plan in enumerate((first, second))]
    return information(np.stack(losses, axis=1), scores, prior.names, (first.label, second.label))


def to_buy(plan: Plan, demand: float, late: float, price: float = 1.0, draws: int = DRAWS,
           of: str = RATE) -> Information:
    """What it is worth to know more before buying so many cards of one plan.

    Cards are bought in deployments of the plan's size. Those that turn out to be missing are bought
    later, dearer; those too many were paid for.

    Args:
        plan: a deployment; several stand side by side.
        demand: that they have to meet together [token/s].
        late: price of a card that is bought later, in prices of one bought now [1].
        price: of a card.
        draws: from the priors of its inputs, a power of two.
        of: what the demand is of: output tokens per second, of a wave or of a steady state. The
            formulas' own error is that of a wave.

    Raises ParamsError for a demand that takes too many deployments, and a later price below
    today's.
    """
    if not 1 <= late < DEAREST:
        raise ParamsError(f"--late {late:g}: cards that are cheaper later are bought later, "
                          f"expected 1 to below {DEAREST:g}.")
    prior = priors([plan], RATE)
    scores = _scores(len(prior.names), draws)
    needed = np.ceil(demand / prior.sample(plan, scores, of))
    least, most = needed.min(), needed.max()
    if most - least >= MOST_STEPS:
        raise ParamsError(f"--demand: takes {least:,.0f} to {most:,.0f} deployments of "
                          f"'{plan.scenario.id}', expected a demand that a few would meet.")
    sizes = np.arange(least, most + 1)
    losses = price * plan.cards * (sizes + late * np.maximum(0, sizes[:, None] - sizes))
    options = [f"{int(size) * plan.cards} {CARDS}" for size in sizes]
    ends = plan.cards * np.quantile(needed, ENDS, method="higher")
    return replace(information(losses, scores, prior.names, options, (needed - least).astype(int)),
                   needed=tuple(ends.tolist()))


def _scores(inputs: int, draws: int) -> np.ndarray:
    """Evenly spread scores. Raises ParamsError for a number of draws that cannot be cut in bins."""
    if draws & (draws - 1) or draws < BINS * BINS:
        raise ParamsError(f"--samples {draws}: expected a power of two from {BINS * BINS} on.")
    return scores_of(inputs, draws)
