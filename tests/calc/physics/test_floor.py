"""A floor is a floor: no estimate lies below it, whatever the routing, the drafts and the rates."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, SIZE, fleet, run, where
from hypothesis import given, settings
from hypothesis import strategies as st

import calc
import catalogue
from catalogue.deployments.knobs import DENSE

ROUNDED = 1 + 1e-12
both = pytest.mark.parametrize("attention", ATTENTIONS)
seeds = st.integers(0, 2**32 - 1)


def drawn(attention, seed):
    """A fleet with what pulls a floor up or an estimate down drawn from its extremes."""
    rng = np.random.default_rng(seed)
    return fleet(attention, seed) | {
        "hbm_efficiency": rng.choice([0.05, 0.3, 1.0], SIZE),
        "expert_streaming_efficiency": rng.choice([0.05, 0.9, 1.0], SIZE),
        "mla_efficiency": rng.choice([0.05, 0.9, 1.0], SIZE),
        "routing_skew": rng.choice([0.0, 0.5, 4.0], SIZE),
        "draft_tokens": rng.choice([0, 1, 3], SIZE),
        "mtp_acceptance": rng.choice([0.0, 0.8, 1.0], SIZE),
        "micro_batches": rng.choice([1, 2], SIZE),
        "attention_weight_bytes": rng.choice([0.5, 1, 4.0], SIZE),
        "activation_element_bytes": rng.choice([1, 2, 4.0], SIZE),
        "output_tokens": rng.choice([1, 2, 100], SIZE),
    }


@both
@settings(max_examples=20)
@given(seed=seeds)
def test_no_estimate_is_faster_than_the_floor(attention, seed):
    inputs = drawn(attention, seed)
    result = run(inputs, attention)
    assert not where(result["tpot_floor"] > result["tpot"] * ROUNDED, result["tpot"])
    assert not where(result["tpot_floor"] * result["tokens_per_step"]
                     > result["decode_step_time"] * ROUNDED, result["decode_step_time"])


@both
@settings(max_examples=20)
@given(seed=seeds)
def test_no_estimate_has_more_throughput_than_the_ceiling(attention, seed):
    result = run(drawn(attention, seed), attention)
    assert not where(result["output_throughput"] > result["throughput_ceiling"] * ROUNDED,
                     result["output_throughput"])


@both
def test_the_floor_is_all_of_a_step_that_only_reads(attention):
    """Tight: with nothing to do but read, and no activations to speak of, the step is it."""
    neutral = {name: symbol.neutral for name, symbol in catalogue.symbols().items()
               if symbol.kind == "prior" and symbol.unit in ("s", "s/token")
               and symbol.neutral == 0}
    inputs = fleet(attention, 7) | neutral | {
        "even_routing": 1, "kv_imbalance": 1, "clock_factor": 1e9, "clock_spread": 0,
        "input_tokens": 10_000, "output_tokens": 1,  # contexts of one length
        "prompt_variation": 0, "answer_variation": 0,
        "activation_element_bytes": 1e-9, "logit_element_bytes": 1e-9, "draft_tokens": 0,
        "micro_batches": 1, "dequantisation_traffic": 0, "selection_traffic": 0,
        "captured": 1, "largest_graph": 1e9,
        "offloaded_share": 0, "fetched_share": 0, "attention_weight_bytes": 1e-9,
        "shared_expert_ranks": 0,
        "second_round_alpha": 0, "gather_alpha": 0,
        "dispatch_element_bytes": 1e-9,
        **{f"{name}_{kind}": 0 for name in DENSE
           for kind in ("matmul_latency", "depth_latency", "activation_traffic")}}
    result = run(inputs, attention)
    np.testing.assert_allclose(result["tpot_floor"], result["decode_step_time"], rtol=1e-3)


@pytest.mark.parametrize("name", catalogue.deployment_names())
def test_of_every_deployment(name):
    scenario = catalogue.load_scenario(name)
    quantities = calc.estimate(scenario).quantities
    if "tpot" in quantities:
        assert quantities["tpot_floor"].value <= quantities["tpot"].value
    if "output_throughput" in quantities:
        assert quantities["output_throughput"].value <= quantities["throughput_ceiling"].value
