"""Answers that many tests look at and none changes, computed once in a process."""

from __future__ import annotations

import functools

import calc
import catalogue
from calc.answer.estimate import Estimate


@functools.cache
def estimated(name: str) -> Estimate:
    """What the runtime says of a deployment of the catalogue as it is."""
    return calc.estimate(catalogue.load_scenario(name))
