"""Money and energy: each value is the median of its own distribution, as every other is."""

import numpy as np
import pytest
from _middle import is_middle

import catalogue
from calc.answer.estimate import predicted
from calc.closed_form.evaluate import evaluate
from calc.costing import answer
from calc.costing.answer import CostOptions, cost
from calc.costing.rates import prices_of, way_of
from calc.uncertainty.amount import Amount
from calc.uncertainty.interval import NORMAL_90, _sides
from calc.uncertainty.propagate import propagate_uncertainty

DRAWS, SEED, BAR = 2_000, 1, (0.35, 0.65)
# a card that may draw no more, one whose price may never come back, in two kinds of prefill
NAMES = ("h200-r1-vllm-tp8", "h200-v32-sglang-tp8", "wide-ant-ep32", "wide-vllm-prefill-ep32",
         "s2-910b1-awq", "s0-scenario-1")


def drawn(inputs, rng):
    """Each input from a normal variable with its median and ends, apart on either side."""
    found = {}
    for name, one in inputs.items():
        if not isinstance(one, Amount) or one.exact:
            found[name] = one.value if isinstance(one, Amount) else one
            continue
        score = rng.standard_normal(DRAWS)
        end, far = np.where(score > 0, one.high, one.low), abs(score) / NORMAL_90
        found[name] = (one.value * (end / one.value) ** far if one.low > 0 else
                       np.maximum(0, one.value + (end - one.value) * far))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_money_and_energy_are_near_the_middle_of_what_is_drawn(name, monkeypatch):
    scenario = catalogue.load_scenario(name)
    prices = prices_of(scenario.device, None, [])
    sold = next(iter(catalogue.load_prices("deepseek-api").holding.values()))
    rate = predicted(scenario, ["output_throughput"])["output_throughput"]
    seen = {}

    def spread(function, inputs, units):
        seen.update(function=function, inputs=inputs)
        return answer_spread(function, inputs, units)

    answer_spread = answer.propagate_uncertainty
    monkeypatch.setattr(answer, "propagate_uncertainty", spread)
    found = cost(scenario, evaluate(scenario.inputs(), scenario.model.attention), rate, prices,
                 CostOptions(way_of(scenario.device, prices), utilisation=0.45, sold=sold))
    draws = seen["function"](drawn(seen["inputs"], np.random.default_rng(SEED)))
    assert {"energy_per_token", "per_million_output"} & found.amounts.keys()
    for quantity, amount in found.amounts.items():
        value = amount.value if quantity != "payback" else 1 / amount.value
        assert is_middle(np.atleast_1d(draws[quantity]), value, *BAR), quantity


def test_an_interval_holds_no_value_that_no_input_gives():
    """Any of three inputs below 1 makes it a tenth, all of them together no less."""
    one = Amount(1.0, 0.5, 2.0)
    found = propagate_uncertainty(lambda q: {"least": np.where(
        (q["a"] < 1) | (q["b"] < 1) | (q["c"] < 1), 0.1, 1.0)}, dict.fromkeys("abc", one))["least"]
    assert (float(found.low), float(found.high)) == pytest.approx((0.1, 1.0))


@pytest.mark.parametrize(("own", "widths", "found"), [
    ([(1, 2, 3, 4)], [1], [[1], [2], [3], [4]]),
    ([(1, 2, 3, 4)], [2], [[1, 1], [2, 2], [3, 3], [4, 4]]),
    ([(1, 2, 3, 4), (5, 6, 7, 8)], [1, 2], [[1, 5, 5], [2, 6, 6], [3, 7, 7], [4, 8, 8]]),
    ([(1, 2, 3, np.array([4, 9]))], [2], [[1, 1], [2, 2], [3, 3], [4, 9]])])
def test_each_row_has_the_sides_of_its_quantity(own, widths, found):
    assert _sides(own, widths).tolist() == found
