"""How rows of a table are dealt to experts: in turn, uniformly, from a power law."""

from __future__ import annotations

import pytest

from kernels.expert_kernels import dealing, rank_load


@pytest.mark.parametrize(("engine", "dealt"), [
    ("tensorrt-llm@1.2.0", "most"), ("tensorrt-llm@1.2.1", "fewest"),
    ("tensorrt-llm@1.3.0rc10", "fewest"), ("tensorrt-llm@1.3.0rc11", "ranks"),
    ("vllm@0.12.0", "most"), ("vllm@0.12.1", "fewest"), ("vllm@0.17.1", "ranks"),
    ("sglang@0.5.6.post2", "most"), ("sglang@0.5.9", "fewest"), ("sglang@0.5.10", "ranks")])
def test_last_release_of_each_way_of_dealing(engine, dealt):
    assert dealing(*engine.split("@")) == dealt


@pytest.mark.parametrize(("shape", "experts", "rows"), [
    ((32, 256, 8, 1), 256, 256), ((1024, 256, 8, 8), 32, 1024), ((64, 256, 8, 8), 32, 64),
    # three of eight experts in turn: 0, 3, 6, then half a stride on: 1, 4, 7
    ((2, 8, 3, 2), 3, 3), ((4, 8, 3, 2), 4, 2 + 2 + 1 + 2)])
def test_experts_in_turn(shape, experts, rows):
    assert rank_load(*shape, "balanced") == (experts, rows)


def test_uniform_routing_hits_the_expected_experts():
    """Three tokens of two experts miss one of eight with a chance of (3/4)^3."""
    assert rank_load(3, 8, 2, 2, "uniform") == pytest.approx((8 * (1 - 0.75**3) / 2, 3.0))


@pytest.mark.parametrize("left", ["ranks", "fewest", "most"])
@pytest.mark.parametrize("tokens", [1, 7, 100, 5000])
def test_power_law_deals_every_row(left, tokens):
    """No token chooses an expert twice; the timed rank is the fullest one."""
    experts, rows = rank_load(tokens, 128, 4, 1, "power-law-1.01", left)
    assert rows == 4 * tokens
    assert min(4, rows) <= experts <= min(128, rows)
    fullest, most = rank_load(tokens, 128, 4, 8, "power-law-1.01", left)
    assert rows / 8 <= most <= rows
    assert most <= tokens * fullest
