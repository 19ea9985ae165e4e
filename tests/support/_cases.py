"""Parametrised cases of which the usual run takes a sample, and the nightly run all."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def usual(cases: Iterable[Any], one_in: int) -> list[Any]:
    """Mark all but a seeded sample of the cases for the nightly run."""
    cases = sorted(cases)
    sample = random.Random("usual").sample(cases, -(-len(cases) // one_in))
    return [case if case in sample else pytest.param(case, marks=pytest.mark.nightly)
            for case in cases]


def is_usual() -> bool:
    """Whether this run has the usual number of hypothesis examples, not the nightly one."""
    return settings().max_examples == settings.get_profile("default").max_examples
