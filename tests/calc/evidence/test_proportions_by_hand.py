"""What scores can show, by hand: small tables counted out, and sizes of samples from their law."""

import math

import pytest
from scipy import stats

from calc.evidence import proportions


@pytest.mark.parametrize(("percentage", "problems", "decimals", "found"), [
    (12, 8, 0, [1]), (13, 8, 0, [1]),  # 12.5% may have been rounded either way
    (11.9, 8, 0, []), (13.1, 8, 0, []), (0.1, 400, 1, []), (0.2, 400, 1, [1]), (0.3, 400, 1, [1]),
    (33, 3, 0, [1]), (67, 3, 0, [2]), (66, 3, 0, []), (50, 200, 0, [99, 100, 101])])
def test_a_count_that_lies_in_the_middle_may_stand_behind_both_scores(percentage, problems,
                                                                      decimals, found):
    assert proportions.counts(percentage, problems, decimals) == found


@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_the_ends_of_an_interval_leave_as_much_on_either_side(confidence):
    """At the low end 3 or more of 10 are as rare as 3 or fewer at the high end."""
    rare = (1 - confidence) / 2
    low, high = (proportions.interval(3, 10) if confidence == 0.95
                 else proportions.interval(3, 10, confidence))
    assert stats.binom.sf(2, 10, low) == pytest.approx(rare)
    assert stats.binom.cdf(3, 10, high) == pytest.approx(rare)


def test_the_other_way_round_a_difference_is_its_negative():
    low, high = proportions.difference(9, 3, 10)
    assert proportions.difference(3, 9, 10) == pytest.approx((-high, -low))


@pytest.mark.parametrize(("first", "second", "problems", "p"), [
    (1, 0, 1, 1 / 2), (2, 0, 2, 1 / 8), (1, 0, 2, 5 / 8), (1, 1, 2, 1), (0, 0, 3, 1),
    (3, 0, 3, 1 / 32)])
def test_barnards_p_is_that_at_the_least_favourable_proportion(first, second, problems, p):
    """Of two of two and none: twice (1/2)⁴; of one and none: all pairs that are not equal."""
    assert proportions.barnard(first, second, problems) == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize(("first", "second", "problems", "p"), [
    (6, 1, 6, 12 / 792), (6, 2, 6, 30 / 495), (5, 1, 6, 74 / 924), (3, 3, 6, 1)])
def test_fishers_p_is_the_share_of_tables_that_are_as_rare(first, second, problems, p):
    assert proportions.fisher(first, second, problems) == pytest.approx(p)


@pytest.mark.parametrize(("second", "problems", "least"), [
    (1, 6, 6), (2, 6, None), (0, 4, 4), (0, 3, None), (6, 6, None)])
def test_the_least_significant_score_may_be_all_of_them_or_none(second, problems, least):
    assert proportions.least_significant(second, problems) == least


@pytest.mark.parametrize(("first", "second", "problems", "p"), [
    (5, 0, 5, (1 / 16, 1 / 16)), (1, 0, 1, (1, 1)), (0, 0, 4, (1, 1)), (1, 1, 2, (1, 1)),
    (6, 2, 10, (1 / 8, 2 * (1 + 8 + 28) / 256))])
def test_paired_problems_that_one_alone_solved_are_coins(first, second, problems, p):
    """Four of four, or six of eight where two more are solved by either alone."""
    assert proportions.paired(first, second, problems) == pytest.approx(p)


def test_what_is_adjusted_is_counted_among_those_that_are_left_and_never_falls():
    """3 × 0.01; 2 × 0.02, 1 × 0.03 is raised to it."""
    assert proportions.holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert proportions.holm([0.2, 0.6]) == pytest.approx([0.4, 0.6])
    assert proportions.holm([]) == []


@pytest.mark.parametrize(("gap", "differing", "problems"), [(0.05, 0.2, 626), (0.1, 0.3, 234)])
def test_so_many_shared_problems_by_hand(gap, differing, problems):
    """(1.959964 √0.2 + 0.841621 √(0.2 - 0.0025))² / 0.0025 = 625.5"""
    assert proportions.needed_paired(gap, differing) == problems
    by_hand = ((1.959964 * math.sqrt(differing) + 0.841621 * math.sqrt(differing - gap**2))
               / gap) ** 2
    assert by_hand <= problems < by_hand + 1


@pytest.mark.parametrize(("share", "gap"), [(0.9, 0.05), (0.6, 0.2), (0.5, 0.5)])
def test_so_many_problems_by_hand(share, gap):
    """Pooled where both are taken as equal, each with its own variance where they differ."""
    other, mean = share - gap, share - gap / 2
    by_hand = ((1.959964 * math.sqrt(2 * mean * (1 - mean)) + 0.841621 * math.sqrt(
        share * (1 - share) + other * (1 - other))) / gap) ** 2
    assert by_hand <= proportions.needed(share, gap) < by_hand + 1


def test_systems_that_fail_independently_differ_where_one_solves_and_the_other_does_not():
    assert proportions.independent(0.9, 0.05) == pytest.approx(0.9 * 0.15 + 0.1 * 0.85)


def test_one_problem_tells_no_gap_and_eleven_tell_a_half():
    assert proportions.detectable_gap(0.5, 1) == 0.5
    assert proportions.needed(0.5, 0.5) == 11
    assert proportions.detectable_gap(0.5, 11) < 0.5
    assert proportions.detectable_gap(0.5, 10) == pytest.approx(0.5, abs=1e-9)
