"""What benchmark scores can show: counts, intervals and exact tests, against known values."""

from __future__ import annotations

import itertools
import math

import pytest
from scipy import stats

from notebooks.pages import proportions


@pytest.mark.parametrize(("percentage", "problems", "decimals", "found"), [
    (93.33, 30, 2, [28]), (85.98, 164, 2, [141]), (71.26, 167, 2, [119]), (71.26, 880, 2, []),
    (96.8, 1319, 1, [1277]), (94, 1319, 1, [1240]), (91.4, 30 * 16, 1, []), (0, 30, 2, [0]),
    (0, 300, 0, [0, 1]), (100, 300, 0, [299, 300]),  # 1/300 is printed as 0%
    (12, 8, 0, [1]), (13, 8, 0, [1]), (11.9, 8, 0, []),  # 12.5% may be rounded either way
    (0.1, 400, 1, []), (0.3, 400, 1, [1]), (66, 3, 0, []), (50, 200, 0, [99, 100, 101])])
def test_counts_behind_a_score(percentage, problems, decimals, found):
    assert proportions.counts(percentage, problems, decimals) == found


def test_coverage_of_an_interval():
    """The sum over all outcomes whose interval holds the true proportion."""
    for true in (0.5, 0.93):
        covered = sum(stats.binom.pmf(solved, 30, true) for solved in range(31)
                      if (ends := proportions.interval(solved, 30))[0] <= true <= ends[1])
        assert covered >= 0.95
    assert proportions.interval(30, 30) == (pytest.approx(0.025 ** (1 / 30)), 1)
    low, high = proportions.interval(3, 10, 0.8)
    assert stats.binom.sf(2, 10, low) == pytest.approx(0.1)
    assert stats.binom.cdf(3, 10, high) == pytest.approx(0.1)


def test_newcombes_own_example():
    """Newcombe (1998), table II, method 10: 9/10 − 3/10."""
    low, high = proportions.difference(9, 3, 10)
    assert (round(low, 4), round(high, 4)) == (0.1705, 0.8090)
    assert proportions.difference(3, 9, 10) == pytest.approx((-high, -low))


@pytest.mark.parametrize(("first", "second", "problems"), [(7, 12, 15), (141, 131, 164)])
def test_barnard_against_scipy(first, second, problems):
    """SciPy searches for the worst proportion and may stop short of it."""
    there = stats.barnard_exact([[first, second], [problems - first, problems - second]], n=256)
    found = proportions.barnard(first, second, problems)
    assert 0.9999 < found / there.pvalue < 1.002
    assert found == pytest.approx(proportions.barnard(second, first, problems), rel=1e-3)


def test_mcnemars_range_is_that_of_all_tables():
    """Every assignment of two answers to six problems with these scores."""
    for first, second in itertools.product(range(7), repeat=2):
        seen = set()
        for both in range(7):
            only, other = first - both, second - both
            if only >= 0 and other >= 0 and both + only + other <= 6:
                seen.add(stats.binomtest(only, only + other).pvalue if only + other else 1.0)
        assert proportions.paired(first, second, 6) == (min(seen), max(seen))


@pytest.mark.parametrize(("values", "adjusted"), [
    ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]), ([0.9, 0.8], [1, 1]),
    ([0.03, 0.01, 0.02], [0.04, 0.03, 0.04]), ([], [])])
def test_holm(values, adjusted):
    assert proportions.holm(values) == pytest.approx(adjusted)


@pytest.mark.parametrize(("second", "problems", "least"), [
    (1, 6, 6), (2, 6, None), (0, 4, 4), (0, 3, None), (27, 30, None)])
def test_least_significant_score(second, problems, least):
    assert proportions.least_significant(second, problems) == least
    found = proportions.least_significant(131, 164)
    assert proportions.fisher(found, 131, 164) <= 0.05 < proportions.fisher(found - 1, 131, 164)


@pytest.mark.parametrize(("share", "gap"), [(0.9, 0.05), (0.6, 0.2), (0.5, 0.5)])
def test_sample_size_by_hand(share, gap):
    """Pooled where both are taken as equal, each with its own variance where they differ."""
    other, mean = share - gap, share - gap / 2
    by_hand = ((1.959964 * math.sqrt(2 * mean * (1 - mean)) + 0.841621 * math.sqrt(
        share * (1 - share) + other * (1 - other))) / gap) ** 2
    assert by_hand <= proportions.needed(share, gap) < by_hand + 1


@pytest.mark.parametrize(("gap", "differing", "problems"), [(0.05, 0.2, 626), (0.1, 0.3, 234)])
def test_paired_sample_size_by_hand(gap, differing, problems):
    """(1.959964 √0.2 + 0.841621 √(0.2 - 0.0025))² / 0.0025 = 625.5"""
    assert proportions.needed_paired(gap, differing) == problems
    with pytest.raises(ValueError, match="fewer than the gap"):
        proportions.needed_paired(gap, 0.9 * gap)


def test_sample_sizes_and_gaps():
    """Pairs that fail alike need fewest problems; independent ones as many as unpaired."""
    assert proportions.independent(0.9, 0.05) == pytest.approx(0.9 * 0.15 + 0.1 * 0.85)
    for gap in (0.01, 0.05):
        loose = proportions.needed_paired(gap, proportions.independent(0.9, gap))
        assert proportions.needed_paired(gap, gap) < loose
        assert loose == pytest.approx(proportions.needed(0.9, gap), rel=0.02)
    gap = proportions.detectable_gap(0.9, 1319)
    assert proportions.needed(0.9, gap) <= 1319 < proportions.needed(0.9, 0.99 * gap)
    assert proportions.detectable_gap(0.5, 1) == 0.5
    assert proportions.needed(0.5, 0.5) == 11
