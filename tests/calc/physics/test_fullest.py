"""The fullest rank: what the popularity of experts, chance and placement make ranks wait for."""

from types import SimpleNamespace

import numpy as np
import pytest

from calc.physics.experts import fullest, upper_quantile

V3 = {"n_routed_experts": 256, "num_experts_per_tok": 8, "routing_skew": 0.9,
      "placement_residual": 0.04, "redundant_experts": 0, "balanced_placement": 0,
      "even_routing": 0}


def load(ranks, tokens=1e9, **changed):
    return fullest(SimpleNamespace(**(V3 | changed)), np.asarray(ranks, float), tokens)


def drawn(ranks, tokens, skew, count=400):
    """Mean load of the fullest rank: popularities of experts dealt at random, tokens by chance."""
    draw = np.random.default_rng(7)
    shares = draw.dirichlet(np.full(256, 1 / skew), count).reshape(count, ranks, -1).sum(axis=2)
    counted = draw.poisson(shares * tokens * 8)
    return float(np.mean(counted.max(axis=1) / (tokens * 8 / ranks)))


@pytest.mark.parametrize("tokens", [1, 100, 1e9])
def test_one_rank_waits_for_no_one(tokens):
    assert load(1, tokens) == 1


def test_without_skew_and_with_all_tokens_there_is_nothing_to_wait_for():
    np.testing.assert_allclose(load([2, 32, 256], 1e15, routing_skew=0), 1, atol=1e-6)


def test_even_routing_leaves_nothing():
    np.testing.assert_array_equal(load([2, 32, 256], 64, even_routing=1), 1)


@pytest.mark.parametrize("by_load", [0, 1])
@pytest.mark.parametrize("tokens_of_a_rank", [4, 64, 4096])
def test_more_ranks_wait_longer(by_load, tokens_of_a_rank):
    ranks = 2.0 ** np.arange(9)
    waited = load(ranks, tokens_of_a_rank * ranks, balanced_placement=by_load)
    assert (np.diff(waited) > 0).all()


def test_more_tokens_wait_shorter_and_more_skew_longer():
    assert (np.diff([load(32, tokens) for tokens in 4.0 ** np.arange(8)]) <= 0).all()
    assert (np.diff([load(32, routing_skew=skew) for skew in (0, 0.3, 1, 2)]) > 0).all()


@pytest.mark.parametrize("skew", [0.4, 0.9, 1.64])
@pytest.mark.parametrize("ranks", [4, 8, 16, 32, 64, 128])
@pytest.mark.parametrize("tokens_of_a_rank", [16, 128])
def test_it_is_what_drawing_gives(ranks, skew, tokens_of_a_rank):
    tokens = ranks * tokens_of_a_rank
    assert load(ranks, tokens, routing_skew=skew) == pytest.approx(
        drawn(ranks, tokens, skew), rel=0.06)


def test_spares_help_where_a_rank_holds_few_experts():
    waited = [load(128, balanced_placement=1, redundant_experts=spares)
              for spares in (0, 32, 128, 256)]
    assert (np.diff(waited) <= 0).all()
    assert waited[0] > 2
    assert waited[-1] < 1.3


def test_an_array_of_placements_is_each_by_itself():
    together = load(32, 640, balanced_placement=np.array([0, 1, 0]))
    np.testing.assert_array_equal(
        together, [load(32, 640, balanced_placement=by_load) for by_load in (0, 1, 0)])


def test_placement_by_load_is_as_measured():
    """DeepSeek-R1 on 32 and 36 ranks, a spare each: TensorRT-LLM's blog 4, table 1."""
    for ranks, measured in ((32, 1.109), (36, 1.115)):
        assert load(ranks, ranks * 128, balanced_placement=1,
                    redundant_experts=32) == pytest.approx(measured, abs=0.01)


def test_no_rank_gets_more_than_there_is():
    assert load(256, 1) <= 256 / 8
    assert load(8, 1) <= 8


@pytest.mark.parametrize("share", [0.3, 0.2, 0.05, 0.01, 0.002])
def test_the_quantile_of_an_exponential_variable(share):
    assert upper_quantile(1.0, share) == pytest.approx(-np.log(share), rel=0.04)
