"""The page of steady states: what it draws is what was measured, and what `estimate` says."""

import pytest

import calc
import catalogue
from calc.closed_form.validity import NEAR, doubt_words
from notebooks.pages.engineering import steady as page


@pytest.mark.one
@pytest.mark.parametrize("name", page.SYSTEMS)
def test_closed_form_and_simulation_of_a_measured_system_agree(name):
    found = page.curve(name)
    assert len(found.users) >= 5
    assert list(found.users) == sorted(set(found.users))
    for each, most in NEAR.items():
        assert abs(found.off("simulated", each)).max() <= most
        assert (found.measured[each] > 0).all()


@pytest.mark.parametrize("name", ["h200-r1-vllm-tp8", "h200-v32-sglang-dp8"])
def test_causes_are_those_that_an_estimate_tells(name):
    scenario = catalogue.load_scenario(name)
    told = calc.estimate(scenario).as_json()["arrivals"]
    assert tuple(told["doubts"]) == page.doubted(scenario)
    assert set(told["doubts"]) <= doubt_words().keys()
    assert told["closed_form_holds"] == (not told["doubts"])
