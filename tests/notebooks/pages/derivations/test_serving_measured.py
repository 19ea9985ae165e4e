"""Bursts of measured chunks obey the laws that the page derives for bursts."""

import pytest

from notebooks.pages.derivations.measured import serving as serving_measured
from notebooks.pages.derivations.measured.serving import SHORT, Grid


@pytest.fixture(scope="module")
def grid():
    return Grid()


def test_a_measured_length_takes_what_was_measured_and_one_between_them_what_lies_between(grid):
    alone = {row.tokens: row.ttft for row in grid.trusted if row.requests == 1}
    assert {tokens: grid.chunk_time(tokens) for tokens in alone} == alone
    low, high = sorted(alone)[:2]
    assert grid.chunk_time((low + high) / 2) == pytest.approx((alone[low] + alone[high]) / 2)


def test_no_time_is_invented_for_a_prompt_longer_than_any_that_was_measured(grid):
    longest = max(row.tokens for row in grid.trusted if row.requests == 1)
    with pytest.raises(ValueError, match="alone"):
        grid.chunk_time(longest + 1)


@pytest.mark.parametrize("requests", [1, 2, 5, 16])
def test_prompts_that_fill_a_chunk_each_follow_the_rule(grid, requests):
    tokens = grid.budget
    assert grid.packed(tokens, requests) == pytest.approx(grid.rule(tokens, requests))


@pytest.mark.parametrize("requests", [2, 8, 32])
def test_short_prompts_share_a_chunk_and_wait_for_less_than_two(grid, requests):
    both = grid.chunk_time(SHORT) + grid.chunk_time((requests - 1) * SHORT)
    assert grid.packed(SHORT, requests) < both


@pytest.mark.parametrize("requests", [2, 4, 8])
def test_what_is_not_waited_before_the_first_token_is_waited_after_it(grid, requests):
    """The sum of both is all prefill of the wave, here of prompts that fill a chunk each."""
    later = 511
    waits = (grid.packed(grid.budget, requests)
             + later * grid.stall(grid.budget, requests, later))
    assert waits == pytest.approx(requests * grid.chunk_time(grid.budget))
    assert grid.stall(grid.budget, 1, later) == 0


def test_bursts_that_no_chunk_holds_are_not_compared(grid):
    errors = serving_measured.errors_of_bursts(grid)
    assert 0 < len(errors) < len(grid.trusted)
    assert all(SHORT <= burst.tokens <= grid.budget for burst in errors)
