"""How rows of a table were dealt to experts, followed by hand: in turn, drawn, and what is left."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from calc.kernels.routing import (
    DRAWS,
    _dealt,
    _drawn,
    _fullest,
    _in_turn,
    dealing,
    met,
    unevenness,
)


@pytest.mark.parametrize(("engine", "dealt"), [
    ("tensorrt-llm@1.2.0", "most"), ("tensorrt-llm@1.2.1", "fewest"),
    ("tensorrt-llm@1.3.0rc10", "fewest"), ("tensorrt-llm@1.3.0rc11", "ranks"),
    ("vllm@0.12.0", "most"), ("vllm@0.12.1", "fewest"), ("vllm@0.17.0", "fewest"),
    ("vllm@0.17.1", "ranks"), ("sglang@0.5.6.post2", "most"), ("sglang@0.5.7", "fewest"),
    ("sglang@0.5.9", "fewest"), ("sglang@0.5.10", "ranks"), ("aiter@unstated", "ranks")])
def test_the_last_release_of_each_way_still_has_it(engine, dealt):
    assert dealing(engine) == dealt


def test_routings_are_ordered_by_their_exponent_and_even_chances_lie_below():
    assert [unevenness(skew) for skew in ("balanced", "uniform", "power-law-1.01",
                                          "power-law-sampled-1.2")] == [0, 0.1, 1.01, 1.2]


@pytest.mark.parametrize(("tokens", "rows"), [
    (2, [1, 1, 0, 1, 1, 0, 1, 1]),  # 0, 3, 6, then half a stride on: 1.5, 4.5, 7.5
    (3, [2, 1, 1, 1, 1, 1, 1, 1]),  # 0, 3, 6; 1, 4, 7; 2, 5, and 8 is 0 again
    (4, [2, 2, 1, 2, 1, 1, 2, 1])])
def test_three_of_eight_experts_in_turn(tokens, rows):
    assert _in_turn(tokens, 8, 3).tolist() == rows


def test_a_rank_with_an_even_share_has_it_of_rows_and_of_experts_that_are_hit():
    """Three tokens of two experts miss one of eight with a chance of (3/4)^3."""
    assert met(3, 8, 2, 2, "uniform") == pytest.approx((8 * (1 - 0.75**3) / 2, 3.0))
    assert met(4, 8, 3, 2, "balanced") == (4, 2 + 2 + 1 + 2)


@pytest.mark.parametrize(("tokens", "drawn", "rows"), [
    # 20 rows of four experts: 1, 8 and 1/(1 - 7/8 u) between, of 12.06 in all, ten at most
    (10, [0, 1, 0.5, 0.25], [2, 10, 3, 2]),
    # as many rows as experts: 0.01, 2 and 1/(100 - 99.5 u) between, of 3.68 in all
    (2, [0, 1, 0.99, 0.995], [0, 2, 1, 1])])
def test_loads_of_a_power_law_are_rounded_and_no_more_than_the_tokens(tokens, drawn, rows):
    rng = SimpleNamespace(random=lambda count: np.array(drawn[:count]))
    assert _drawn(rng, tokens, 4, 2, 2.0).tolist() == rows


@pytest.mark.parametrize(("rows", "total", "left", "dealt"), [
    # two ranks in turn, of each the expert with fewest, or most where there is too much
    ([3, 0, 1, 0], 8, "ranks", [3, 2, 2, 1]),
    ([3, 2, 2, 1], 6, "ranks", [2, 2, 1, 1]),
    # experts in turn, those with fewest first; one that has all tokens is passed over
    ([3, 0, 1, 2], 9, "fewest", [3, 1, 2, 3]),
    ([3, 0, 1, 2], 10, "fewest", [3, 2, 2, 3]),
    ([3, 0, 1, 2], 8, "most", [3, 0, 2, 3]),
    # too much is taken from those with fewest, of one with none from the fullest
    ([3, 0, 1, 2], 4, "most", [2, 0, 0, 2]),
    ([3, 0, 1, 2], 4, "fewest", [2, 0, 0, 2]),
    ([1, 1, 1, 1], 4, "ranks", [1, 1, 1, 1])])
def test_rows_that_rounding_left_over(rows, total, left, dealt):
    assert _dealt(np.array(rows), 3, total, 2, left).tolist() == dealt


def test_the_fullest_rank_is_that_with_most_rows_in_all():
    assert _fullest(np.array([1, 5, 4, 3]), 2).tolist() == [4, 3]


def test_of_drawn_loads_the_mean_of_six_stands_for_them():
    """Experts that are hit are counted, so that six times their mean is a whole number."""
    found = np.array([met(tokens, 64, 4, 8, "power-law-1.2").experts for tokens in range(2, 12)])
    assert DRAWS == 6
    whole = {count: bool(np.allclose(count * found, np.round(count * found)))
             for count in (2, 3, 5, 6, 7)}
    assert whole == {2: False, 3: False, 5: False, 6: True, 7: False}


def test_only_power_laws_are_drawn():
    with pytest.raises(ValueError, match=r"no routing 'sampled-power-law-1.2', expected uniform"):
        met(1, 8, 2, 1, "sampled-power-law-1.2")


@pytest.mark.parametrize("ranks", [1, 2, 4, 8, 16])
def test_one_token_drawn_is_dealt_like_one_in_turn(ranks):
    """All drawn loads round to nothing: times of both are the same, on all ranks."""
    drawn = met(1, 256, 8, ranks, "power-law-1.2")
    assert drawn == met(1, 256, 8, ranks, "balanced") == (max(1, 8 // ranks),) * 2


@pytest.mark.parametrize("left", ["fewest", "most"])
def test_before_one_rank_had_all_rows_of_one_token(left):
    assert met(1, 256, 8, 16, "power-law-1.2", left) == (8, 8)


@pytest.mark.parametrize("left", ["ranks", "fewest", "most"])
@pytest.mark.parametrize("tokens", [1, 2, 7, 24, 33, 100, 5000])
def test_every_row_is_dealt_and_no_token_chooses_an_expert_twice(left, tokens):
    every = met(tokens, 128, 4, 1, "power-law-1.01", left)
    assert every.rows == 4 * tokens
    assert min(4, every.rows) <= every.experts <= min(128, every.rows)
    fullest = met(tokens, 128, 4, 8, "power-law-1.01", left)
    assert every.rows / 8 <= fullest.rows <= every.rows
    assert fullest.rows <= tokens * fullest.experts


def test_how_rows_were_dealt_is_of_the_release_that_was_timed():
    assert [dealing(engine) for engine in (
        "tensorrt-llm@1.0.0", "tensorrt-llm@1.3.0rc10", "tensorrt-llm@1.3.0rc20")] == [
            "most", "fewest", "ranks"]
