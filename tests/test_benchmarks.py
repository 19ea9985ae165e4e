"""Benchmarks: arguments, ratios of processor times, and rows that a run replaces."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import COMMIT, main, merged
from benchmarks.pairs import compare
from benchmarks.worktrees import WORKING, Refused, Tree

THEN = Tree(Path("then"), Path(sys.executable))


@pytest.mark.parametrize("arguments", [
    ["nonsense"], ["commands", "--beside", "nonsense"], ["commands", "--beside", f"{COMMIT}:tests"],
    ["commands", "--python", "nonsense"], ["commands", "--runs", "0"]])
def test_bad_arguments_are_one_sentence(arguments: list[str], tmp_path: Path, capsys) -> None:
    output = tmp_path / "results.json"
    assert main([*arguments, "--output", str(output)]) == 2
    assert not output.exists()
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_ratio_is_that_of_the_fastest_runs() -> None:
    times = {THEN: itertools.cycle([2.0, 3.0]), WORKING: itertools.cycle([1.5, 1.0])}
    row = compare(lambda tree: {"a": next(times[tree])}, THEN, 3)["a"]
    assert row == {"unit": "s", "then": 2.0, "now": 1.0, "ratio": 0.5}


@pytest.mark.parametrize("refusing", [THEN, WORKING])
def test_a_question_that_a_tree_refuses(refusing: Tree) -> None:
    def question(tree: Tree) -> dict[str, float]:
        if tree is refusing:
            raise Refused("unknown")
        return {"a": 1.0}

    if refusing is WORKING:
        with pytest.raises(Refused):
            compare(question, THEN, 2)
    else:
        row = compare(question, THEN, 2)["a"]
        assert "unknown" in row.pop("note")
        assert row == {"unit": "s", "now": 1.0}


def test_rows_of_a_part_are_replaced_when_it_is_measured_whole() -> None:
    old = {"search_a": {"now": 1.0}, "steady_b": {"value": 1.0}, "gone_c": {"value": 1.0}}
    new = {"search_d": {"now": 2.00004}}
    rows = merged(old, new, ["search"])
    assert rows == {"steady_b": {"value": 1.0}, "search_d": {"now": 2.0}}
    assert merged(old, new, []) == rows | {"search_a": {"now": 1.0}}
