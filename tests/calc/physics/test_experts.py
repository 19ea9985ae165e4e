"""Experts: how many a step reads, the fullest rank, whole, sliced or shared ones on their ranks."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, run
from _fleet import alike as sampled
from hypothesis import given
from hypothesis import strategies as st

from calc.physics.arrays import Inputs
from calc.physics.experts import (
    distinct_experts,
    fullest,
)

ROUNDING = 1e-9  # relative
both = pytest.mark.parametrize("attention", ATTENTIONS)
SKEWS = st.one_of(st.just(0.0), st.floats(1e-3, 10))
SHAPES = st.integers(2, 1024).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1)))


class TestDistinct:
    @given(SHAPES, SKEWS)
    def test_one_token_reads_k_experts_and_endless_tokens_all(self, shape, skew):
        n, k = shape
        assert distinct_experts(n, k, 1, skew) == pytest.approx(k)
        assert distinct_experts(n, k, 0, skew) == pytest.approx(0, abs=1e-9)
        assert distinct_experts(n, k, 1e200, skew) == pytest.approx(n, rel=1e-9)
        assert distinct_experts(n, n, 7.5, skew) == n
        assert distinct_experts(0, 0, 7.5, skew) == 0

    @given(SHAPES, SKEWS, SKEWS, st.floats(1, 1e5), st.floats(1.01, 100))
    def test_more_tokens_read_more_but_less_each_and_skew_reads_less(self, shape, skew, other,
                                                                     tokens, factor):
        few, many = (float(distinct_experts(*shape, t, skew)) for t in (tokens, tokens * factor))
        assert few <= many * (1 + ROUNDING)
        assert many <= few * factor * (1 + ROUNDING)
        assert many <= min(shape[0], shape[1] * tokens * factor) * (1 + ROUNDING)
        even, uneven = (float(distinct_experts(*shape, tokens, s)) for s in sorted((skew, other)))
        assert shape[1] <= uneven * (1 + ROUNDING) <= even * (1 + 2 * ROUNDING)

    @pytest.mark.parametrize("tokens", [1, 7, 300])
    def test_uniform_routing_is_the_limit_of_no_skew(self, tokens):
        """Each of 256 experts is missed by a token with probability 1 - 8/256."""
        uniform = distinct_experts(256, 8, tokens, 0.0)
        assert uniform == pytest.approx(256 * (1 - (1 - 8 / 256) ** tokens))
        assert distinct_experts(256, 8, tokens, 1e-6) == pytest.approx(uniform, rel=1e-3)


V3 = {"n_routed_experts": 256, "num_experts_per_tok": 8, "routing_skew": 0.9,
      "placement_residual": 0.04, "redundant_experts": 0, "balanced_placement": 0,
      "even_routing": 0}


def load(ranks, tokens=1e9, **changed):
    return fullest(Inputs(V3 | changed), np.asarray(ranks, float), tokens)


class TestFullestRank:
    def test_one_rank_even_routing_and_no_skew_leave_nothing_to_wait_for(self):
        assert load(1, 100) == 1
        np.testing.assert_array_equal(load([2, 32, 256], 64, even_routing=1), 1)
        np.testing.assert_allclose(load([2, 32, 256], 1e15, routing_skew=0), 1, atol=1e-6)
        assert load(256, 1) <= 256 / 8  # no rank gets more than there is
        assert load(8, 1) <= 8

    @pytest.mark.parametrize("by_load", [0, 1])
    def test_imbalance_is_monotone(self, by_load):
        ranks = 2.0 ** np.arange(9)
        for tokens in (4, 4096):
            assert (np.diff(load(ranks, tokens * ranks, balanced_placement=by_load)) > 0).all()
        assert (np.diff([load(32, tokens) for tokens in 4.0 ** np.arange(8)]) <= 0).all()
        assert (np.diff([load(32, routing_skew=skew) for skew in (0, 0.3, 1, 2)]) > 0).all()
        waited = [load(128, balanced_placement=1, redundant_experts=spares)
                  for spares in (0, 32, 256)]
        assert waited[0] > 2 > 1.3 > waited[-1]
        np.testing.assert_array_equal(load(32, 640, balanced_placement=np.array([0, by_load])), [
            load(32, 640), load(32, 640, balanced_placement=by_load)])

    @pytest.mark.parametrize("skew", [0.4, 0.9, 1.64])
    @pytest.mark.parametrize("ranks", [4, 16, 64, 128])
    @pytest.mark.parametrize("tokens_of_a_rank", [16, 128])
    def test_beside_random_draws(self, ranks, skew, tokens_of_a_rank):
        """Popularities of experts dealt at random, tokens by chance."""
        tokens, draw = ranks * tokens_of_a_rank, np.random.default_rng(7)
        shares = draw.dirichlet(np.full(256, 1 / skew), 400).reshape(400, ranks, -1).sum(axis=2)
        drawn = draw.poisson(shares * tokens * 8).max(axis=1) / (tokens * 8 / ranks)
        assert load(ranks, tokens, routing_skew=skew) == pytest.approx(drawn.mean(), rel=0.06)

    @pytest.mark.parametrize(("ranks", "measured"), [(32, 1.109), (36, 1.115)])
    def test_placement_by_load_as_measured(self, ranks, measured):
        """DeepSeek-R1 on 32 and 36 ranks, a spare each: TensorRT-LLM's blog 4, table 1."""
        assert load(ranks, ranks * 128, balanced_placement=1,
                    redundant_experts=32) == pytest.approx(measured, abs=0.01)


def eight(attention, expert, slices, **changed):
    """Deployments on eight ranks with an attention each, which share 64 experts.

    Slices and whole experts are multiplied alike, and no rank has more of the tokens.
    """
    inputs = dict(sampled(attention))
    return run(inputs | {
        "tensor_parallel": 1, "data_parallel": 8, "expert_parallel": expert,
        "expert_tensor_parallel": slices, "decode_context_parallel": 1, "shared_expert_ranks": 0,
        "n_routed_experts": 64, "num_experts_per_tok": 6, "redundant_experts": 0,
        "first_k_dense_replace": np.floor(inputs["num_hidden_layers"] / 2),
        "moe_intermediate_size": 512, "even_routing": 1, "routing_skew": 0, "expert_bias": 0,
        "exchange_gathered": 1, "dispatch_element_bytes": inputs["activation_element_bytes"],
        "fetched_share": 0, "offloaded_share": 0, "exchange_buffer_tokens": 0,
        "expert_width_multiple": 1, "expert_slice_multiple": 1} | changed,
        attention)


@both
class TestSlices:
    """Slices over ranks that are data-parallel in attention, beside whole experts."""

    @pytest.mark.parametrize(("expert", "slices"), [(1, 8), (4, 2)])
    def test_sliced_experts_equal_whole_ones_but_for_rows(self, attention, expert, slices):
        whole, cut = eight(attention, 8, 1), eight(attention, expert, slices)
        for name in ("weights_per_device", "decode_routed_expert_flops", "expert_group_tokens",
                     "prefill_routed_expert_flops", "decode_exchange_time"):
            np.testing.assert_allclose(cut[name], whole[name], rtol=1e-12, err_msg=name)
        inputs = sampled(attention)
        layers = inputs["num_hidden_layers"] - np.floor(inputs["num_hidden_layers"] / 2)
        rows = cut["decode_group_tokens"] * 6 / 8  # of whole experts, on each of eight ranks
        more = (slices - 1) * rows * 2 * inputs["hidden_size"] * inputs["activation_element_bytes"]
        np.testing.assert_allclose(
            cut["decode_routed_expert_bytes"] - whole["decode_routed_expert_bytes"],
            layers * more, rtol=1e-6)
        assert not np.any(eight(attention, expert, slices, exchange_gathered=0,
                                exchange_buffer_tokens=128)["exchange_buffers"])
