"""What is told of a deployment is the median of its own distribution: ranges and own error."""

import numpy as np
import pytest
from _middle import is_middle

import calc
import catalogue
from calc.answer.estimate import HEADROOM, QUANTITIES, predicted, spare_of
from calc.answer.steady_state import STEADY
from calc.evidence.classes import own_errors
from calc.uncertainty.leaning import sampled

DRAWS, SEED = 600, 11
BAR = (0.35, 0.65)
NOISE = 0.02  # of a share of so many draws, its standard deviation
NARROW = ("wide-rtp-decode", "h800-profile-decode", "wide-lmsys-decode", "kt-4090-v021")


@pytest.fixture(scope="module")
def told():
    """Of every shipped deployment what is told of it, and the scenario."""
    scenarios = [catalogue.load_scenario(name) for name in catalogue.deployment_names()]
    return [(each, predicted(each, QUANTITIES)) for each in scenarios]


def test_a_told_value_is_near_the_middle_of_what_is_drawn(told):
    """Times, rates, memory, blocks and requests; what distance adds moves the ends alone.

    But for the mean of a benchmark, which jumps where one wave more is a burst.
    """
    scores = np.random.default_rng(SEED).standard_normal(DRAWS)
    for scenario, amounts in told:
        drawn = sampled(scenario.inputs(), scenario.knobs(), scenario.model.attention, DRAWS)
        own = own_errors(scenario)
        for name, amount in amounts.items():
            if name == "bench_ttft":
                continue
            error = own.get(STEADY.get(name, name))
            down, up = error.of_class if error else (0.0, 0.0)
            found = np.asarray(drawn[name]) * np.exp(scores * np.where(scores < 0, down, up))
            assert is_middle(found, amount.value, BAR[0] - NOISE, BAR[1] + NOISE), (
                scenario.id, name)


def test_what_is_to_spare_agrees_with_the_verdict(told):
    for _, amounts in told:
        assert (spare_of(amounts[HEADROOM]) >= 0) == (amounts[HEADROOM].central >= 0)


@pytest.mark.parametrize("name", NARROW)
def test_in_which_share_of_the_draws_it_fits_is_told_where_that_is_not_sure(name):
    scenario = catalogue.load_scenario(name)
    answer = calc.estimate(scenario)
    headroom = answer.quantities[HEADROOM]
    drawn = sampled(scenario.inputs(), scenario.knobs(), scenario.model.attention, DRAWS)
    assert headroom.low < 0 <= headroom.high
    assert answer.fits_in == pytest.approx(float((drawn[HEADROOM] >= 0).mean()), abs=0.1)
    assert (answer.fits_in < 1 / 2) == (headroom.value < 0)


def test_what_has_room_at_both_ends_or_at_neither_has_no_share_told():
    for name in ("h200-r1-vllm-tp8", "s0-scenario-1"):
        assert calc.estimate(catalogue.load_scenario(name)).fits_in is None
