"""What mechanisms cost is computed where a deployment has them: that changes no number."""

from __future__ import annotations

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, one, run
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.closed_form.evaluate import evaluate

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


@pytest.mark.parametrize(("name", "ways"), MECHANISMS.items())
@pytest.mark.parametrize("deployment", ["h200-r1-vllm-tp8", "h200-v32-vllm-dp8"])
def test_one_without_a_mechanism_is_the_same_beside_one_that_has_it(deployment, name, ways):
    scenario = catalogue.load_scenario(deployment)
    inputs, attention = scenario.inputs(), scenario.model.attention
    together = evaluate(inputs | {name: np.array(ways, float)}, attention)
    for row, way in enumerate(ways):
        for quantity, value in evaluate(inputs | {name: way}, attention).items():
            if np.ndim(together[quantity]) == 1:  # of a single number, where all have it
                same(value, np.broadcast_to(together[quantity], len(ways))[row], quantity)
