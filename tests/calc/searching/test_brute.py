"""A search finds what plain loops find that use neither its space nor its judge."""

import pytest

from benchmarks.reference.brute import KINDS, agrees

SEEDS = (1, 4, 6, 10, 15, 19, 23)


@pytest.mark.one
@pytest.mark.parametrize("seed", SEEDS)
def test_front_and_counts_are_those_of_plain_loops(seed):
    found = agrees(seed)
    assert found.same
    assert found.tried
    assert found.front


def test_goals_of_every_kind_are_among_them():
    assert {KINDS[seed % len(KINDS)] for seed in SEEDS} == set(KINDS)
