"""A law that does not hold is told with the deployments that break it, or that it is none."""

from pathlib import Path

import numpy as np
import pytest

from laws.holding import COUNT, drawn, law, mostly
from laws.order import EXCEPTIONS


def few(fleet):
    return fleet.inputs["concurrency"] < 2


def test_as_many_deployments_are_drawn_as_are_asked_for_and_all_of_them_fit():
    assert sum(fleet.size for fleet in drawn()) >= COUNT
    assert all(np.all(fleet.found["headroom_per_device"] >= 0) for fleet in drawn())
    assert len({(fleet.base, fleet.model) for fleet in drawn()}) > len(drawn()) / 2


def test_a_law_that_breaks_names_the_deployments():
    with pytest.raises(AssertionError, match=r"\d+ of \d+: \S+ in \S+ on \S+ under"):
        law(few)()
    mostly(1.0)(few)()


def test_a_law_that_says_nothing_of_any_deployment_is_none():
    with pytest.raises(AssertionError, match="no deployment"):
        law(lambda fleet: np.ma.masked_all(fleet.size, bool))()


def test_every_exception_is_asked_for_by_a_law():
    laws = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert [name for name in EXCEPTIONS if f'"{name}"' not in laws] == []
