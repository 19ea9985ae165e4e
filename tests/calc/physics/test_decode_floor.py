"""Tokens of a decode step, contexts, and the floor under its latency."""

import math

import numpy as np
import pytest
from _fleet import ATTENTIONS, SIZE, fleet, run, where
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.physics.arrays import Inputs
from calc.physics.operators import (
    biased,
    context_deviation,
    mean_attended,
    mean_context,
    tokens_per_step,
)
from calc.serving.requests import shapes_of
from catalogue.deployments.physics_inputs import DENSE

ROUNDED = 1 + 1e-12
EXTREMES = {
    "hbm_efficiency": [0.05, 0.3, 1.0], "expert_streaming_efficiency": [0.05, 0.9, 1.0],
    "mla_efficiency": [0.05, 0.9, 1.0], "routing_skew": [0.0, 0.5, 4.0], "draft_tokens": [0, 1, 3],
    "mtp_acceptance": [0.0, 0.8, 1.0], "micro_batches": [1, 2], "output_tokens": [1, 2, 100],
    "attention_weight_bytes": [0.5, 1, 4.0], "activation_element_bytes": [1, 2, 4.0]}
both = pytest.mark.parametrize("attention", ATTENTIONS)


@both
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_estimate_is_faster_than_the_floor(attention, seed):
    """Also with what pulls a floor up or an estimate down drawn from its extremes."""
    rng = np.random.default_rng(seed)
    extremes = {name: rng.choice(values, SIZE) for name, values in EXTREMES.items()}
    inputs = fleet(attention, seed) | extremes
    result = run(inputs, attention)
    for name in ("tpot", "steady_pace"):
        assert not where(result["tpot_floor"] > result[name] * ROUNDED, result[name])
    assert not where(result["tpot_floor"] * result["tokens_per_step"]
                     > result["decode_step_time"] * ROUNDED, result["decode_step_time"])
    shared = result["throughput_ceiling"] * ROUNDED
    apart = np.where(inputs["separate_pools"] > 0, np.inf, shared)  # others give first tokens
    for name, most in (("output_throughput", shared), ("steady_throughput", apart),
                       ("bench_throughput", apart)):
        assert not where(result[name] > most, result[name])


@both
def test_the_floor_is_all_of_a_step_that_only_reads(attention):
    """Tight: with nothing to do but read, and no activations to speak of, the step is it."""
    neutral = {name: symbol.neutral for name, symbol in catalogue.symbols().items()
               if symbol.kind == "prior" and symbol.unit in ("s", "s/token")
               and symbol.neutral == 0}
    inputs = fleet(attention, 7) | neutral
    at_once = inputs["data_parallel"] * inputs["pipeline_parallel"]
    inputs |= {
        "concurrency": at_once * np.ceil(inputs["concurrency"] / at_once),  # as many on every rank
        "even_routing": 1, "kv_imbalance": 1, "clock_factor": 1e9, "clock_spread": 0,
        "input_tokens": 10_000, "output_tokens": 1,  # contexts of one length
        "prompt_variation": 0, "answer_variation": 0,
        "activation_element_bytes": 1e-9, "logit_element_bytes": 1e-9, "draft_tokens": 0,
        "micro_batches": 1, "dequantisation_traffic": 0, "selection_traffic": 0,
        "captured": 1, "largest_graph": 1e9,
        "offloaded_share": 0, "fetched_share": 0, "attention_weight_bytes": 1e-9,
        "shared_expert_ranks": 0, "second_round_alpha": 0, "gather_alpha": 0,
        "dispatch_element_bytes": 1e-9, "jointly_cut": 0,  # steps read what one replica would hold
        **{f"{name}_{kind}": 0 for name in DENSE
           for kind in ("matmul_latency", "depth_latency", "activation_traffic")}}
    result = run(inputs, attention)
    np.testing.assert_allclose(result["tpot_floor"], result["decode_step_time"], rtol=1e-3)


HALF, EIGHTH = 0.5, 0.5 * 0.25  # of the first draft; of the second, taken half as often


@pytest.mark.parametrize(("acceptance", "decay", "drafts", "stated", "tokens"), [
    # each draft counts with all before it
    (0.5, 0.5, 0, 0, 1), (0.5, 0.5, 1, 0, 1 + HALF), (0.5, 0.5, 1.5, 0, 1 + HALF + EIGHTH / 2),
    (0.5, 0.5, 2, 0, 1 + HALF + EIGHTH), (0.5, 0.5, 3, 0, 1 + HALF + EIGHTH + EIGHTH / 8),
    (1, 1, 7, 0, 8), (1, 1, 8, 0, 9), (1, 1, 9, 0, 9),  # counted up to eight
    (0.5, 1, 2, 0, 1.75), (0.5, 1, 2, 1.25, 1.25), (0.5, 1, 2, 3, 3), (0.5, 1, 2, 4, 3)])
def test_accepted_drafts_up_to_eight_or_a_stated_length(acceptance, decay, drafts, stated, tokens):
    assert tokens_per_step(acceptance, decay, drafts, stated) == tokens
    assert tokens_per_step(acceptance, decay, np.array([drafts, 3.0]), stated)[0] == tokens


PROMPT, ANSWER, DRAWS = 2000, 400, 100_000
DISTRIBUTIONS = [("exponential", 1.0), ("lognormal", 0.5), ("lognormal", 1.5)]


def drawn(distribution, variation):
    """Answers, and the contexts of output tokens, each token as likely as any other."""
    shapes = np.array(shapes_of(PROMPT, ANSWER, distribution, variation))
    draw = np.random.default_rng(1)
    lengths = shapes[:, 1]
    of = draw.choice(len(lengths), DRAWS, p=lengths / lengths.sum())
    contexts = draw.choice(shapes[:, 0], DRAWS) + 1 + np.floor(draw.random(DRAWS) * lengths[of])
    return lengths, contexts


class TestLengths:
    @pytest.mark.parametrize(("distribution", "variation"), DISTRIBUTIONS)
    def test_mean_context_and_an_upper_bound_with_a_limit(self, distribution, variation):
        answers, contexts = drawn(distribution, variation)
        spread = answers.std() / answers.mean()
        assert mean_context(PROMPT, biased(answers.mean(), spread)) == pytest.approx(
            contexts.mean(), rel=0.01)
        for limit in (128, 1000, 2048, 20_000):
            sampled = np.minimum(contexts, limit).mean()
            found = mean_attended(limit, PROMPT, biased(ANSWER, variation))
            assert sampled * 0.99 <= found <= sampled / (1 - math.exp(-1)) * 1.01
            if limit <= PROMPT / 10:  # a window is short
                assert found == pytest.approx(sampled, rel=0.05)

    @pytest.mark.parametrize(("variation", "prompt"), [(0.0, PROMPT), (1.0, PROMPT), (0.3, 0),
                                                       (0.7, 0), (1.6, 0)])
    def test_contexts_deviate_as_sampled(self, variation, prompt):
        """Of gamma-distributed answers, at any moment of theirs, and prompts that vary as much."""
        draw = np.random.default_rng(2)
        answers = (np.full(DRAWS, float(ANSWER)) if not variation else
                   draw.gamma(variation**-2, ANSWER * variation**2, DRAWS))
        of = draw.choice(answers, DRAWS, p=answers / answers.sum())
        contexts = draw.random(DRAWS) * of + prompt * (1 + variation * draw.standard_normal(DRAWS))
        q = Inputs({"input_tokens": prompt, "output_tokens": ANSWER,
                    "prompt_variation": variation, "answer_variation": variation})
        assert context_deviation(q) == pytest.approx(contexts.std(), rel=0.03)
