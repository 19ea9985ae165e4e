"""What mechanisms cost is computed where a deployment has them: that changes no number."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, one, run
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.closed_form.evaluate import evaluate
from calc.closed_form.waves import held_by_decode_pool, prefilled_in, prompts
from calc.physics.arrays import Inputs

# symbol -> without it, and with it
MECHANISMS = {
    "micro_batches": (1, 2), "host_overlap": (0, 0.5), "single_batch_overlap": (0, 1),
    "draft_tokens": (0, 2), "prefix_hit_share": (0, 0.5), "mixed_steps": (0, 1),
    "separate_pools": (0, 1), "prefill_delay_steps": (0, 30), "think_time": (0, 5),
    "open_arrivals": (0, 1), "pipeline_parallel": (1, 2), "scheduler_recv_interval": (1, 8),
    "prompt_variation": (0, 0.5), "answer_variation": (0, 0.5), "steps_ahead": (0, 1),
    "offloaded_share": (0, 0.5), "first_token_held": (0, 1), "front_end_rate": (1e6, 20),
    "concurrency": (1, 40)}


def same(left, right, name=""):
    assert np.allclose(np.asarray(left, float), np.asarray(right, float), rtol=1e-9, atol=0,
                       equal_nan=True), (name, left, right)


@pytest.mark.parametrize("attention", ATTENTIONS)
@settings(max_examples=4)
@given(st.integers(0, 2**32 - 1))
def test_a_deployment_alone_is_the_same_among_others(attention, seed):
    inputs = fleet(attention, seed)
    every = run(inputs, attention)
    for row in (seed % 100, (seed + 37) % 100):
        alone = evaluate(one(inputs, row), attention)
        for name, value in alone.items():
            if np.ndim(every[name]) == 1 and not isinstance(value, str):
                same(value, every[name][row], name)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("deployment", ["h200-r1-vllm-tp8", "h200-v32-vllm-dp8"])
def test_one_without_a_mechanism_is_the_same_beside_one_that_has_it(deployment, name):
    scenario = catalogue.load_scenario(deployment)
    inputs, attention = scenario.inputs(), scenario.model.attention
    ways = MECHANISMS[name]
    together = evaluate(inputs | {name: np.array(ways, float)}, attention)
    for row, way in enumerate(ways):
        for quantity, value in evaluate(inputs | {name: way}, attention).items():
            if np.ndim(together[quantity]) == 1:  # of a single number, where all have it
                same(value, np.broadcast_to(together[quantity], len(ways))[row], quantity)


class TestPools:
    """What the two pools of a pair take of a request."""

    @pytest.mark.parametrize("requests", [1, 2, 40])
    def test_a_burst_is_prefilled_after_its_first_prompt(self, requests):
        q = Inputs(catalogue.load_scenario("h200-r1-vllm-tp8").inputs())
        steps = [SimpleNamespace(step_time=each) for each in (0.2, 0.3)]
        cut = prompts(q, float(requests))
        alone, rest = prefilled_in(q, cut, requests, *steps)
        same((alone, rest), (0.2 * cut.prompt_chunks, (requests > 1) * 0.3 * cut.burst_chunks))

    def test_stages_share_the_rest_of_a_burst(self):
        inputs = catalogue.load_scenario("h200-r1-vllm-tp8").inputs() | {"pipeline_parallel": 4.0}
        q, steps = Inputs(inputs), [SimpleNamespace(step_time=0.2)] * 2
        cut = prompts(q, 8.0)
        alone, rest = prefilled_in(q, cut, 8, *steps)
        same((alone, rest), (0.2 * (cut.prompt_chunks + 3) / 4, 0.2 * cut.burst_chunks / 4))

    def test_a_decode_pool_holds_its_requests_for_all_their_tokens(self):
        """By Little's law: as many as it has in flight, at its rate."""
        scenario = catalogue.load_scenario("h200-r1-vllm-tp8")
        inputs = scenario.inputs() | {"separate_pools": 1.0, "concurrency": 24.0}
        found = evaluate(inputs, scenario.model.attention)
        held = held_by_decode_pool(Inputs(inputs), found["tpot"])
        same(held, inputs["output_tokens"] * found["tpot"])
        same(found["request_throughput"] * held, 24)
