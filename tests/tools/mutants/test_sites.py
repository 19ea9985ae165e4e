"""Mutants: each differs from the file in what it does, the draw is even and repeatable."""

from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray", reason="make mutants installs it")

from tools.mutants.sites import meaning, mutant, placed, places, sample

TEXT = '''"""Say."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """Two."""

    left: int | None = None


def rate(tokens: int, seconds: float, floor: float = 0.0) -> float:
    """Tokens per second, 1 at least."""
    return max(tokens / seconds, floor) if seconds > 0 and tokens else f(tokens, floor)
'''


def every(text):
    return [made for (line, _), ways in places(text).items() for which, occurrence in ways
            if (made := mutant("a.py", text, line, which, occurrence))]


def test_every_mutant_does_something_else():
    found = every(TEXT)
    assert {each.kind for each in found} >= {
        "arithmetic", "comparison", "logic", "number", "arguments"}
    for each in found:
        assert meaning(each.text) != meaning(TEXT), each
        assert each.text.splitlines()[each.line - 1].strip() == each.after != each.before


def test_annotations_documentation_and_the_order_of_equals_are_left_alone():
    changed = {each.before for each in every(TEXT)}
    assert all("return" in line or "def rate" in line for line in changed), changed
    assert not any("max(floor, tokens" in each.after for each in every(TEXT))
    assert any("f(floor" in each.after.replace(" ", "") for each in every(TEXT))


def test_a_file_is_as_it_was_where_nothing_can_be_changed(tmp_path: Path):
    (tmp_path / "a.py").write_text("left = right\n")
    assert sample(tmp_path, [tmp_path / "a.py"], 5, 0) == []


def test_the_same_seed_draws_the_same(tmp_path: Path):
    for name in "ab":
        (tmp_path / f"{name}.py").write_text(TEXT)
    files = list(tmp_path.glob("*.py"))
    drawn = sample(tmp_path, files, 6, 1)
    assert drawn == sample(tmp_path, files[::-1], 6, 1) != sample(tmp_path, files, 6, 2)
    assert len({(each.path, each.line, each.after) for each in drawn}) == 6


def test_a_mutant_is_placed_where_its_line_stands_by_now(tmp_path):
    told = {"path": "a.py", "line": 2, "kind": "arithmetic", "before": "x = a + b",
            "after": "x = a - b"}
    (tmp_path / "a.py").write_text("# moved\n\nif a:\n    x = a + b\n\n\n\n\nx = a + b\n")
    made = placed(tmp_path, told)
    assert made.line == 4, "the nearest of two"
    assert made.text == "# moved\n\nif a:\n    x = a - b\n\n\n\n\nx = a + b\n"
    (tmp_path / "a.py").write_text("x = a * b\n")
    assert placed(tmp_path, told) is None
    assert placed(tmp_path, told | {"path": "gone.py"}) is None
