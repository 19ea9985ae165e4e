"""What a benchmark of so many problems can show: counts behind scores, intervals, exact tests.

A problem is solved or not, and problems are taken as independent draws, so that a score is a
binomial proportion. Two systems on one set of problems are compared unpaired, by what their scores
alone tell, and paired, by the range of what any per-problem results behind these scores would tell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

CONFIDENCE = 0.95
LEVEL = 0.05  # of significance, of a family of comparisons or of a single one
POWER = 0.8  # probability of finding a difference that is there
HALVINGS = 50  # of a gap, until it is found
SHARES = 2000  # steps of the common proportion in Barnard's test


def counts(percentage: float, problems: int, decimals: int) -> list[int]:
    """Numbers of solved problems that round to a printed percentage.

    Args:
        percentage: as printed, such as 93.33.
        problems: in the set [1].
        decimals: that the percentage is rounded to [1].
    """
    half = 0.5 * 10.0**-decimals * (1 + 1e-9)
    first = max(0, math.floor((percentage - half) / 100 * problems))
    last = min(problems, math.ceil((percentage + half) / 100 * problems))
    return [count for count in range(first, last + 1)
            if abs(100 * count / problems - percentage) <= half]


def interval(solved: int, problems: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Interval of a proportion after Clopper and Pearson (1934) [1]; it covers at least as often.

    Args:
        solved: problems solved [1].
        problems: problems in all [1].
        confidence: probability of covering, both sides together [1].
    """
    ends = _stats().binomtest(solved, problems).proportion_ci(confidence, "exact")
    return float(ends.low), float(ends.high)


def difference(first: int, second: int, problems: int) -> tuple[float, float]:
    """Interval of the difference of two proportions, unpaired [1].

    Source: Newcombe, Interval estimation for the difference between independent proportions (1998),
    method 10, from the Wilson intervals of both.

    Args:
        first, second: problems that either system solved [1].
        problems: problems in the set [1].
    """
    left, right = first / problems, second / problems
    (low, high), (other_low, other_high) = (
        _stats().binomtest(solved, problems).proportion_ci(CONFIDENCE, "wilson")
        for solved in (first, second))
    return (float(left - right - math.hypot(left - low, other_high - right)),
            float(left - right + math.hypot(high - left, right - other_low)))


def fisher(first: int, second: int, problems: int) -> float:
    """Two-sided p of Fisher's exact test that both systems solve alike [1]."""
    return float(_stats().fisher_exact(_table(first, second, problems)).pvalue)


def barnard(first: int, second: int, problems: int) -> float:
    """Two-sided p of Barnard's exact test, pooled [1]; it does not fix how many are solved in all.

    The probability of a difference as large, measured in pooled standard errors, is taken at the
    least favourable of ``SHARES`` common proportions; those above one half are those below it with
    solved and unsolved exchanged.
    """
    solved = np.arange(problems + 1)
    left, right = solved[:, None] / problems, solved[None, :] / problems
    variance = (left + right) * (2 - left - right)
    score = np.divide((left - right) ** 2, variance, out=np.zeros_like(variance),
                      where=variance > 0)
    extreme = (score >= score[first, second] * (1 - 1e-9)).astype(float)
    shares = np.arange(1, SHARES // 2 + 1)[:, None] / SHARES
    weights = _stats().binom.pmf(solved[None, :], problems, shares)
    return float(((weights @ extreme) * weights).sum(axis=1).max().clip(max=1.0))


def paired(first: int, second: int, problems: int) -> tuple[float, float]:
    """Least and greatest p of McNemar's exact test over all per-problem results behind two scores.

    The test looks at problems that one system alone solved; scores fix the difference of the two
    numbers, not their sum, which is least if one system solved all that the other did.
    """
    least = abs(first - second)
    both_ways = range(min(problems - max(first, second), min(first, second)) + 1)
    p_values = [
        float(_stats().binomtest(least + more, least + 2 * more).pvalue) if least + more else 1.0
        for more in both_ways]
    return min(p_values), max(p_values)


def holm(values: Sequence[float]) -> list[float]:
    """p values of a family, adjusted after Holm (1979), in the order given [1]."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    adjusted, worst = [0.0] * len(values), 0.0
    for rank, place in enumerate(order):
        worst = max(worst, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = worst
    return adjusted


def least_significant(second: int, problems: int) -> int | None:
    """Problems that must be solved for a significantly better score by Fisher's test [1].

    Args:
        second: problems that the other system solved [1].
        problems: problems in the set [1].

    Returns None if not even all of them are enough.
    """
    return next((first for first in range(second + 1, problems + 1)
                 if fisher(first, second, problems) <= LEVEL), None)


def needed(share: float, gap: float) -> int:
    """Problems on which two systems that do not share them are told apart [1].

    Both scores as normal variables, pooled where they are taken as equal; two-sided.
    Source: Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions (2003), 4.14.

    >>> needed(0.9, 0.05)  # 90% and 85%, four times in five
    686

    Args:
        share: that the better system solves [1].
        gap: by which the other solves less [1].
    """
    other = share - gap
    mean = (share + other) / 2
    alike, apart = 2 * mean * (1 - mean), share * (1 - share) + other * (1 - other)
    return math.ceil(((_beyond(LEVEL / 2) * math.sqrt(alike) + _beyond(1 - POWER)
                       * math.sqrt(apart)) / gap) ** 2)


def needed_paired(gap: float, differing: float) -> int:
    """Problems, the same for both, on which two systems are told apart by McNemar's test [1].

    Source: Connor, Sample size for testing differences in proportions for the paired-sample design
    (1987).

    Args:
        gap: of what both solve [1].
        differing: problems that one of the two alone solves, from ``gap`` up [1].
    """
    if differing < gap:
        raise ValueError(f"{differing:g} of the problems differ, fewer than the gap of {gap:g}")
    return math.ceil(((_beyond(LEVEL / 2) * math.sqrt(differing) + _beyond(1 - POWER)
                       * math.sqrt(differing - gap**2)) / gap) ** 2)


def independent(share: float, gap: float) -> float:
    """Problems that one of two systems alone solves if they fail independently [1].

    Args:
        share: that the better system solves [1].
        gap: by which the other solves less [1].
    """
    other = share - gap
    return share * (1 - other) + other * (1 - share)


def detectable_gap(share: float, problems: int) -> float:
    """Smallest gap below a share that so many problems tell, unpaired [1]; the share if none.

    Args:
        share: that the better system solves [1].
        problems: in the set [1].
    """
    low, high = 0.0, share
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if needed(share, middle) <= problems else (middle, high)
    return high


def _beyond(exceeded: float) -> float:
    """What a standard normal variable exceeds with a probability [1]."""
    return NormalDist().inv_cdf(1 - exceeded)


def _stats() -> Any:
    """SciPy's statistics, which take a second to import and which sizes of samples do not need."""
    from scipy import stats

    return stats


def _table(first: int, second: int, problems: int) -> list[list[int]]:
    """Solved and unsolved (rows) by system (columns)."""
    return [[first, second], [problems - first, problems - second]]
