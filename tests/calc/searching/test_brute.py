"""A search finds what plain loops find that use neither its space nor its judge."""

import pytest

from benchmarks.reference.brute import agrees


@pytest.mark.parametrize("seed", range(6))
def test_front_and_counts_are_those_of_plain_loops(seed):
    same, count = agrees(seed)
    assert same
    assert count
