"""Answers to goals, each searched once per run."""

from functools import cache

import pytest

from calc.searching.selection import select


@pytest.fixture(scope="session")
def answer_of():
    """Return the answer to a goal with settings; a test must not change it."""
    return cache(lambda goal, *settings: select(goal, settings))
