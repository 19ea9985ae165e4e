"""What scores on benchmarks can show: counts, intervals and exact tests, held to known values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import catalogue
from calc.evidence import proportions


@pytest.mark.parametrize(("percentage", "problems", "decimals", "found"), [
    (93.33, 30, 2, [28]), (90, 30, 2, [27]), (85.98, 164, 2, [141]), (79.88, 164, 2, [131]),
    (71.26, 167, 2, [119]), (68.86, 167, 2, [115]), (71.26, 880, 2, []), (96.8, 1319, 2, []),
    (96.8, 1319, 1, [1277]), (94, 1319, 1, [1240]), (96.8, 500, 2, [484]), (91.4, 30, 1, []),
    (91.4, 30 * 16, 1, []), (100, 30, 2, [30]), (0, 30, 2, [0]), (50, 4, 0, [2]), (12.5, 8, 1, [1]),
    (0, 300, 0, [0, 1]), (100, 300, 0, [299, 300]),  # 1/300 is printed as 0%, never less than none
])
def test_counts_behind_a_score(percentage, problems, decimals, found):
    assert proportions.counts(percentage, problems, decimals) == found


def test_every_count_is_found_again_from_its_printed_score():
    for problems in (7, 30, 164, 167):
        for solved in range(problems + 1):
            assert solved in proportions.counts(round(100 * solved / problems, 2), problems, 2)


def test_an_interval_covers_at_least_as_often_as_it_says():
    """The sum over all outcomes whose interval holds the true proportion."""
    for true in (0.5, 0.9, 0.93):
        held = sum(stats.binom.pmf(solved, 30, true) for solved in range(31)
                   if (ends := proportions.interval(solved, 30))[0] <= true <= ends[1])
        assert held >= 0.95


def test_an_interval_of_all_solved_is_known_in_closed_form():
    low, high = proportions.interval(30, 30)
    assert (low, high) == (pytest.approx(0.025 ** (1 / 30)), 1)


def test_newcombes_own_example():
    """Newcombe (1998), table II, method 10: 9/10 − 3/10."""
    low, high = proportions.difference(9, 3, 10)
    assert (round(low, 4), round(high, 4)) == (0.1705, 0.8090)


def test_fishers_tea():
    assert proportions.fisher(3, 1, 4) == pytest.approx(34 / 70)


@pytest.mark.parametrize(("first", "second", "problems"), [
    (7, 12, 15), (28, 27, 30), (141, 131, 164)])
def test_barnard_as_scipy_has_it(first, second, problems):
    """SciPy searches for the worst proportion and may stop short of it."""
    there = stats.barnard_exact([[first, second], [problems - first, problems - second]], n=256)
    assert 0.9999 < proportions.barnard(first, second, problems) / there.pvalue < 1.002


def test_tests_do_not_care_which_system_comes_first():
    for test in (proportions.fisher, proportions.barnard):
        assert test(141, 131, 164) == pytest.approx(test(131, 141, 164), rel=1e-3)


def test_mcnemars_range_is_that_of_all_tables():
    """Every assignment of two answers to six problems with these scores."""
    for first, second in itertools.product(range(7), repeat=2):
        seen = set()
        for both in range(7):
            only, other = first - both, second - both
            if only >= 0 and other >= 0 and both + only + other <= 6:
                seen.add(stats.binomtest(only, only + other).pvalue if only + other else 1.0)
        assert proportions.paired(first, second, 6) == (min(seen), max(seen))


def test_holm():
    assert proportions.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert proportions.holm([0.9, 0.8]) == [1, 1]


def test_the_least_score_that_is_significant():
    least = proportions.least_significant(131, 164)
    assert least is not None
    assert proportions.fisher(least, 131, 164) <= 0.05 < proportions.fisher(least - 1, 131, 164)
    assert proportions.least_significant(27, 30) is None


class TestData:
    """The scores of S2 as the catalogue has them."""

    data = catalogue.load("accuracies", "s2-r1-0528")

    def test_every_difference_that_the_document_prints_follows(self):
        printed = {"aime24": 3.33, "livecodebench": 2.4, "humaneval": 6.1, "gsm8k": 2.8}
        for benchmark, stated in printed.items():
            ours, theirs = (self.data.score(system, benchmark).solved.value
                            for system in ("w4a16", "w4a8"))
            assert ours - theirs == pytest.approx(stated, abs=1e-9)

    def test_both_scores_of_a_benchmark_are_whole_numbers_of_its_problems(self):
        for key, benchmark in self.data.benchmarks.items():
            for system in ("w4a16", "w4a8"):
                solved = self.data.score(system, key).solved.value
                assert proportions.counts(solved, benchmark.problems.value,
                                          1 if key == "gsm8k" else 2), (system, key)

    def test_a_score_names_what_is_there(self, tmp_path):
        path = tmp_path / "odd.yml"
        text = (catalogue.ROOT / "accuracies" / "s2-r1-0528.yml").read_text("utf-8")
        path.write_text(text.replace("{system: w4a8, benchmark: aime24",
                                     "{system: w4a9, benchmark: aime24"), encoding="utf-8")
        with pytest.raises(catalogue.ParamsError, match="'w4a9' is none of 'systems'"):
            catalogue.load("accuracies", path)


@pytest.mark.parametrize(("share", "gap"), [(0.9, 0.05), (0.7, 0.05), (0.8, 0.1)])
def test_as_many_problems_as_are_needed_find_the_difference_as_often_as_promised(share, gap):
    """The power of the pooled test, summed over all pairs of counts."""
    problems = proportions.needed(share, gap)
    solved = np.arange(problems + 1)
    first, second = (stats.binom.pmf(solved, problems, of) for of in (share, share - gap))
    mean = (solved[:, None] + solved) / (2 * problems)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.abs(solved[:, None] - solved) / np.sqrt(2 * problems * mean * (1 - mean))
    found = first @ np.nan_to_num(score > stats.norm.isf(proportions.LEVEL / 2)) @ second
    assert found == pytest.approx(proportions.POWER, abs=0.01)


@pytest.mark.parametrize(("gap", "differing"), [(0.05, 0.2), (0.02, 0.04), (0.05, 0.05)])
def test_as_many_shared_problems_as_are_needed_find_it_too(gap, differing):
    """McNemar's test on simulated problems that one of two systems alone solves."""
    problems, runs = proportions.needed_paired(gap, differing), 20_000
    draw = np.random.default_rng(7)
    only = draw.multinomial(problems, [(differing + gap) / 2, (differing - gap) / 2,
                                       1 - differing], size=runs)
    apart, both = only[:, 0] - only[:, 1], only[:, 0] + only[:, 1]
    found = np.abs(apart) / np.sqrt(np.maximum(both, 1)) > stats.norm.isf(proportions.LEVEL / 2)
    assert found.mean() >= proportions.POWER - 0.02


def test_fewer_problems_tell_wider_gaps_and_pairs_that_fail_alike_need_fewest():
    gaps = [0.01, 0.02, 0.05, 0.1]
    needed = [proportions.needed(0.9, gap) for gap in gaps]
    assert needed == sorted(needed, reverse=True)
    for gap in gaps:
        loose = proportions.needed_paired(gap, proportions.independent(0.9, gap))
        assert proportions.needed_paired(gap, gap) < loose
        assert loose == pytest.approx(proportions.needed(0.9, gap), rel=0.02)
    for problems in (30, 167, 1319):
        gap = proportions.detectable_gap(0.9, problems)
        assert proportions.needed(0.9, gap) <= problems < proportions.needed(0.9, 0.99 * gap)
    with pytest.raises(ValueError, match="fewer than the gap"):
        proportions.needed_paired(0.05, 0.01)


# --- by hand --------------------------------------------------------------------------------------


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
