"""Differences from the reference: of pages, of values, and what is accepted."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import pytest

from tools.baseline import Difference, changes, differences, page_numbers, report

PAGE = """<html><body><nav>3</nav><article class="bd-article x"><h1>Memory</h1>
<div class="cell_input">x = 4</div><p>It needs <b>1,024.5</b> GB.</p>
<table><tr><td>1</td><td>1e-5</td></tr></table><script>5</script><!-- 6 --></article></html>"""
NUMBERS: dict[str, Any] = {
    "pages": {"a.html": {"1": 2, "7.5": 1}},
    "answers": {"estimate a": {"code": 0, "values": {"tpot": 0.02}}},
    "quantities": {"a": {"tpot": 0.02, "stage_weights": [1.0, 2.0]}},
    "crosscheck": {"a": "agrees"}, "formulas": {"tpot": {"tree": ["add", "x", 1], "unit": "s"}},
    "deploy": {"vllm": {"serve.sh": "serve \\\n  --port 8000\n"}}}


def test_numbers_of_a_page_are_those_of_its_article_without_code(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(PAGE, "utf-8")
    (tmp_path / "search.html").write_text("<html><form>1</form></html>", "utf-8")
    assert page_numbers(tmp_path) == {"a.html": {"1,024.5": 1, "1": 1, "1e-5": 1}}


@pytest.mark.parametrize(("keys", "value", "name"), [
    (("pages", "a.html", "7.5"), 2, "pages/a.html/7.5"),
    (("pages", "b.html"), {"1": 1}, "pages/b.html"),
    (("answers", "estimate a", "code"), 2, "answers/estimate a/code"),
    (("quantities", "a", "stage_weights"), [1.0, 2.1], "quantities/a/stage_weights/1"),
    (("quantities", "a", "tpot"), 0.02 * (1 + 1e-8), "quantities/a/tpot"),
    (("crosscheck", "a"), "tpot differs", "crosscheck/a"),
    (("formulas", "tpot", "tree"), ["add", "x", 2], "formulas/tpot/tree/2"),
    (("deploy", "vllm", "serve.sh"), "serve \\\n  --port 8000\n--host\n",
     "deploy/vllm/serve.sh/--host"),
])
def test_values_that_differ(keys: tuple[str, ...], value: object, name: str) -> None:
    new = copy.deepcopy(NUMBERS)
    parent = new
    for key in keys[:-1]:
        parent = parent[key]
    parent[keys[-1]] = value
    assert [difference.path for difference in changes(NUMBERS, new)] == [name]
    assert not [*changes(NUMBERS, copy.deepcopy(NUMBERS))]


@pytest.mark.parametrize(("old", "new", "path"), [
    ({"a": {"b": "fits"}}, {"a": {"b": "refused"}}, "a/b"), ({"a": [1, 2]}, {"a": [1, 3]}, "a/1"),
    ({"a": True}, {"a": False}, "a"), ({"a": True}, {"a": 1}, "a"), ({"a": 1.0}, {"a": None}, "a"),
    ({"a": 1}, {"a": "1"}, "a"), ([{"a": 1}], [{"a": []}], "0/a"), (0.0, 1e-300, ""),
    (math.inf, 1.0, ""), (math.nan, 1.0, ""), (1.0, 1.0 + 2e-9, "")])
def test_path_of_a_difference(old: object, new: object, path: str) -> None:
    assert [difference.path for difference in differences(old, new, 1e-9)] == [path]


@pytest.mark.parametrize(("dropped", "code"), [
    ({}, 1), ({"pages/a.html": "removed"}, 0), ({"pages/*.html": "all"}, 0),
    ({"pages/a.html/7": "a count"}, 1), ({"pages/a.html/[78]": "counts"}, 0),
])
def test_accepted_differences(dropped: dict[str, str], code: int) -> None:
    several = [Difference("pages/a.html/7", 1, 2), Difference("pages/a.html/8", 2, 1)]
    assert report(several, dropped) == code
    assert report([], dropped) == 0
