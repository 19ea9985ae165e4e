"""What knowing is worth, of decisions small enough to be worked out by hand."""

import math
from types import SimpleNamespace as Made

import numpy as np
import pytest

from calc.sensitivity import information as module
from calc.sensitivity.information import BINS, between, information, measured, to_buy
from calc.sensitivity.plans import Limit
from catalogue import ParamsError
from reference.plans import law

DRAWS = BINS * BINS


def test_of_three_options_and_an_input_that_tells_which_is_best():
    """In a quarter of the cases the second costs 1 in place of 9, in a half both cost 4 and 5."""
    count = 8 * BINS
    first = np.repeat([4.0, 4.0, 4.0, 4.0], count // 4)
    second = np.repeat([1.0, 9.0, 5.0, 5.0], count // 4)
    losses = np.stack([second, first, np.full(count, 7.0)], axis=1)
    rising = np.arange(count, dtype=float)
    found = information(losses, np.stack([rising, rising % (count // 4)], axis=1),
                        ["tells", "does not"], ["a", "b", "c"])
    assert found.losses == (5.0, 4.0, 7.0)
    assert (found.options[found.taken], found.draws) == ("b", count)
    assert (found.perfect, found.wrong) == (0.75, 0.25)
    assert [(worth.name, worth.value, worth.changes) for worth in found.worths] == [
        ("tells", 0.75, 0.25), ("does not", 0, 0)]
    assert found.as_json()["taken"] == "b"


def test_of_cases_that_no_bin_takes_the_last_are_left_out():
    """Each of 32 bins has as many: of 100 cases 96 are counted."""
    losses = np.stack([np.r_[np.zeros(96), np.full(4, 1e6)], np.ones(100)], axis=1)
    found = information(losses[:96], np.arange(100.0)[:, None], ["x"], ["a", "b"],
                        kinds=np.r_[np.arange(96), np.zeros(4, int)])
    assert found.draws == 96
    assert found.losses == pytest.approx((0, 1))


def test_a_bin_decides_by_the_mean_of_its_cases():
    """Of every two neighbours one would gain 3 by changing and the other lose 1: all change."""
    swing = np.tile([-3.0, 1.0], 8 * BINS)
    losses = np.stack([swing, np.zeros_like(swing)], axis=1)
    found = information(losses, np.arange(16.0 * BINS)[:, None], ["x"], ["a", "b"])
    assert (found.losses, found.taken) == ((-1.0, 0.0), 0)
    assert (found.perfect, found.wrong) == (0.5, 0.5)
    assert (found.worths[0].value, found.worths[0].changes, found.worths[0].scatter >= 0) == (
        0, 0, True)


# --- a purchase -----------------------------------------------------------------------------------


@pytest.fixture
def drawn(monkeypatch):
    """What one deployment yields in each draw, from the least known to the best."""
    def given(yields):
        monkeypatch.setattr(module, "priors", lambda plans, name: Made(
            names=("x",), knobs=((),), own=((),)))
        monkeypatch.setattr(module, "_scores",
                            lambda inputs, draws: np.arange(float(draws))[:, None])
        monkeypatch.setattr(module, "sample_quantity", lambda *given: np.asarray(yields))
    return given


def shares(*parts):
    """So many thirty-seconds of all draws with each value."""
    return np.concatenate([np.full(DRAWS // 32 * count, value) for count, value in parts])


def test_a_purchase_by_hand(drawn):
    """A demand of 30 takes 2, 3 or 6 deployments of 8 cards.

    Bought now at 5 a card, later at 15: of 2, 120 + the missing three at 120 each, and so on.
    """
    drawn(shares((4, 15.0), (18, 10.0), (10, 5.0)))
    found = to_buy(law({}, cards=8), 30.0, 3.0, 5.0, DRAWS)
    one, later = 5 * 8, 15 * 8
    assert found.options == ("16 cards", "24 cards", "32 cards", "40 cards", "48 cards")
    expected = [size * one + later * (max(0, 3 - size) * 18 + max(0, 6 - size) * 10) / 32
                for size in range(2, 7)]
    assert found.losses == pytest.approx(expected)
    assert found.taken == expected.index(min(expected)) == 1
    # knowing all, so many are bought as it takes
    best = (2 * 4 + 3 * 18 + 6 * 10) / 32 * one
    assert found.perfect == pytest.approx(expected[1] - best)
    assert found.wrong == pytest.approx(14 / 32)
    assert found.worths[0].value == pytest.approx(found.perfect)
    assert (found.needed, found.unmet) == ((16, 24, 48), 0)


def test_a_demand_that_is_met_exactly_takes_no_deployment_more(drawn):
    drawn(shares((16, 10.0), (16, np.nextafter(10.0, 0))))
    assert to_buy(law({}, cards=8), 30.0, 2.0, draws=DRAWS).options == ("24 cards", "32 cards")


def test_of_equal_prices_later_and_now_nothing_is_bought_that_may_be_too_much(drawn):
    drawn(shares((16, 10.0), (16, 5.0)))
    found = to_buy(law({}), 30.0, 1.0, draws=DRAWS)
    assert (found.taken, found.perfect) == (0, 0)


def test_cases_in_which_no_purchase_helps_are_left_out_and_told(drawn):
    """They are beyond every number of cards: a half takes none of them, nine tenths does."""
    drawn(shares((2, 15.0), (16, 10.0), (14, math.nan)))
    found = to_buy(law({}), 30.0, 2.0, draws=DRAWS)
    assert found.unmet == 14 / 32
    assert found.needed == (24, 24, None)
    assert found.draws == DRAWS * 18 // 32
    drawn(shares((4, 15.0), (28, 10.0)))
    assert to_buy(law({}), 30.0, 2.0, draws=DRAWS).needed == (16, 24, 24)


def test_a_limit_is_refused_that_is_kept_in_less_than_half_of_the_cases(drawn):
    drawn(shares((16, 10.0), (16, math.nan)))
    assert to_buy(law({}), 30.0, 2.0, draws=DRAWS).unmet == 0.5
    drawn(shares((15, 10.0), (17, math.nan)))
    with pytest.raises(ParamsError, match="in 53% of the cases"):
        to_buy(law({}), 30.0, 2.0, draws=DRAWS)


def test_so_many_sizes_of_a_purchase_are_compared_and_no_more(drawn, monkeypatch):
    monkeypatch.setattr(module, "MOST_STEPS", 4)
    drawn(shares((16, 10.0), (16, 5.0)))
    assert len(to_buy(law({}), 30.0, 2.0, draws=DRAWS).options) == 4
    drawn(shares((16, 10.0), (16, 30 / 7)))
    with pytest.raises(ParamsError, match="takes 3 to 7 deployments of 'law'"):
        to_buy(law({}), 30.0, 2.0, draws=DRAWS)


@pytest.mark.parametrize(("late", "works"), [
    (1.0, True), (0.999, False), (999.9, True), (1000.0, False), (math.nan, False)])
def test_a_card_that_is_bought_later_costs_as_much_or_up_to_a_thousand_times(drawn, late, works):
    drawn(shares((32, 10.0)))
    if works:
        assert to_buy(law({}), 30.0, late, draws=DRAWS).perfect == 0
    else:
        with pytest.raises(ParamsError, match="expected 1 to below 1000"):
            to_buy(law({}), 30.0, late, draws=DRAWS)


@pytest.mark.parametrize(("of", "power"), [("output_throughput", 2), ("concurrency", 1)])
def test_what_formulas_are_off_makes_tokens_slower_and_fewer(monkeypatch, of, power):
    """A limit that is wider by their factor, and of a rate as many tokens more, draw by draw."""
    scores = np.linspace(-2, 2, 2500)[:, None]
    plan = law({})
    object.__setattr__(plan, "within", lambda moves, name, limit: 100 * limit.most)
    found = Made(own=(((0, (0.1, 0.3)),),), knobs=((),))
    got = module._within(plan, found, scores, Limit("tpot", 0.05), of)
    factor = np.exp(np.where(scores[:, 0] < 0, 0.1, 0.3) * scores[:, 0])
    assert got == pytest.approx(5 * factor**power)


@pytest.mark.parametrize(("draws", "works"), [
    (1024, True), (2048, True), (512, False), (1536, False), (0, False)])
def test_draws_are_a_power_of_two_that_fills_the_bins(draws, works):
    if works:
        assert module._scores(1, draws).shape == (draws, 1)
    else:
        with pytest.raises(ParamsError, match="a power of two from 1024 on"):
            module._scores(1, draws)


# --- a choice -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "taken", "losses"), [
    ("card_hours", 0, (6.0, 8.0)), ("throughput_per_card", 1, (-6.0, -8.0))])
def test_of_a_cost_the_less_is_taken_and_of_a_rate_the_more(monkeypatch, name, taken, losses):
    """Twice 3 against twice 4, which in a quarter of the cases is 2 against 4 times four."""
    quarter = np.arange(DRAWS) < DRAWS / 4
    values = [np.full(DRAWS, 3.0), np.where(quarter, 1.0, 5.0)]
    monkeypatch.setattr(module, "priors", lambda plans, name: Made(names=("x",)))
    monkeypatch.setattr(module, "_scores", lambda inputs, draws: np.arange(float(draws))[:, None])
    monkeypatch.setattr(module, "sample_each", lambda plans, found, scores, name: values)
    found = between(law({}, label="one"), law({}, label="two"), name, 2.0, DRAWS)
    assert (found.taken, found.losses, found.options) == (taken, losses, ("one", "two"))
    # in a quarter the second is 1, which is 2 better or, of a rate, 2 worse than the first
    assert (found.perfect, found.wrong) == (2 * 2 * 0.25, 0.25)
    assert (found.needed, found.unmet) == ((None,) * 3, 0)


def test_what_no_input_moves_is_a_measurement():
    assert measured("own_error")
    assert measured("own_error of s2")
    assert not measured("hbm_efficiency")
