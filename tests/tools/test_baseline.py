"""Differences from the reference: of pages, of values, of speed, and what is accepted."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest

from tools.baseline import (
    Change,
    differences,
    page_changes,
    report,
    value_changes,
)

NUMBERS: dict[str, Any] = {
    "answers": {"estimate a": {"code": 0, "values": {"tpot": 0.02}}},
    "quantities": {"a": {"tpot": 0.02, "stage_weights": [1.0, 2.0]}},
    "crosscheck": {"a": "agrees"}, "formulas": {"tpot": {"tree": ["add", "x", 1], "unit": "s"}},
    "deploy": {"vllm": {"serve.sh": "serve \\\n  --port 8000\n"}}}


@pytest.mark.parametrize(("pages", "moved", "expected"), [
    ({"a.html": {"1": 2, "7.5": 1}}, {}, []),
    ({"a.html": {"1": 1, "7.6": 1}}, {}, [("pages/a.html#1", "lost 1×"),
     ("pages/a.html#7.5", "lost 1×"), ("pages/a.html#7.6", "gained 1×")]),
    ({"b.html": {"1": 2, "7.5": 1}}, {}, [("pages/a.html", "missing page"),
                                          ("pages/b.html", "new page")]),
    ({"b.html": {"1": 2, "7.5": 1}}, {"a.html": "b.html"}, []),
])
def test_numbers_of_pages(pages: dict, moved: dict, expected: list) -> None:
    old = {"a.html": {"1": 2, "7.5": 1}}
    assert [*page_changes(old, pages, moved)] == expected
    chinese = {f"zh/{page}": count for page, count in pages.items()}
    assert len([*page_changes({"zh/a.html": old["a.html"]}, chinese, moved)]) == len(expected)


@pytest.mark.parametrize(("keys", "value", "name"), [
    (("answers", "estimate a", "code"), 2, "answers/estimate a/code"),
    (("quantities", "a", "stage_weights"), [1.0, 2.1], "quantities/a/stage_weights/1"),
    (("quantities", "a", "tpot"), 0.02 * (1 + 1e-8), "quantities/a/tpot"),
    (("crosscheck", "a"), "tpot differs", "crosscheck/a"),
    (("formulas", "tpot", "tree"), ["add", "x", 2], "formulas/tpot/tree/2"),
    (("deploy", "vllm", "serve.sh"), "serve \\\n  --port 8001\n", "deploy/vllm/serve.sh"),
])
def test_values_that_differ(keys: tuple[str, ...], value: object, name: str) -> None:
    new = copy.deepcopy(NUMBERS)
    parent = new
    for key in keys[:-1]:
        parent = parent[key]
    parent[keys[-1]] = value
    assert [change.name for change in value_changes(NUMBERS, new)] == [name]
    assert not [*value_changes(NUMBERS, copy.deepcopy(NUMBERS))]


def test_tolerance_and_questions_that_are_no_longer_asked() -> None:
    new = copy.deepcopy(NUMBERS)
    new["quantities"]["a"]["tpot"] *= 1 + 1e-12
    new["answers"] = {}
    assert not [*value_changes(NUMBERS, new)]


@pytest.mark.parametrize(("old", "new", "path"), [
    ({"a": {"b": "fits"}}, {"a": {"b": "refused"}}, "a/b"), ({"a": [1, 2]}, {"a": [1, 3]}, "a/1"),
    ({"a": True}, {"a": False}, "a"), ({"a": True}, {"a": 1}, "a"), ({"a": 1.0}, {"a": None}, "a"),
    ({"a": 1}, {"a": "1"}, "a"), ([{"a": 1}], [{"a": []}], "0/a"), (0.0, 1e-300, ""),
    (math.inf, 1.0, ""), (math.nan, 1.0, ""), (1.0, 1.0 + 2e-9, "")])
def test_path_of_a_difference(old: object, new: object, path: str) -> None:
    assert [difference.path for difference in differences(old, new, 1e-9)] == [path]


@pytest.mark.parametrize(("one", "other"), [
    (0.0, 0.0), (math.nan, math.nan), (math.inf, math.inf), (2, 2.0), (1.0, 1.0 + 5e-10)])
def test_equal_numbers(one: float, other: float) -> None:
    assert not [*differences(one, other, 1e-9)]


@pytest.mark.parametrize(("dropped", "code"), [
    ({}, 1), ({"pages/a.html": "removed"}, 0), ({"pages/*.html": "all"}, 0),
    ({"pages/a.html#7": "a count"}, 1), ({"pages/a.html#[78]": "counts"}, 0),
])
def test_accepted_differences(dropped: dict[str, str], code: int) -> None:
    changes = [Change("pages/a.html#7", "lost 1×"), Change("pages/a.html#8", "gained 1×")]
    assert report(changes, dropped) == code
    assert report([], dropped) == 0
