"""Which tests a change concerns: its own room's, then those of what imports it, step by step."""

from __future__ import annotations

import subprocess
from pathlib import Path

import grimp
import pytest

from tools import changed

STEP = Path("calc/physics/step.py")
FAR = {"calc.physics.step": 0, "calc.closed_form.evaluate": 1, "calc": 2}
TESTS = {
    "tests/calc/physics/test_laws.py": {"numpy"},
    "tests/calc/quantities/test_everything.py": {"calc.closed_form.evaluate"},
    "tests/calc/answer/test_estimate.py": {"calc"},
    "tests/catalogue/test_catalogue.py": {"catalogue"},
    "tests/tools/test_with_helper.py": {"_fleet"},
}
NEAR = {"tests/calc/physics/test_laws.py": 0, "tests/calc/quantities/test_everything.py": 1,
        "tests/calc/answer/test_estimate.py": 2}


def test_tests_are_as_near_as_what_they_import() -> None:
    assert changed.nearness([STEP], FAR, TESTS) == NEAR


def test_a_changed_test_is_nearest_and_so_are_those_whose_helper_changed() -> None:
    for path, test in (("tests/catalogue/test_catalogue.py", "tests/catalogue/test_catalogue.py"),
                       ("tests/support/_fleet.py", "tests/tools/test_with_helper.py")):
        assert changed.nearness([Path(path)], {}, TESTS) == {test: 0}


@pytest.mark.parametrize("path", ["params/devices/nvidia-h20.yml", "notebooks/memory.md",
                                  "book/index.md", "pyproject.toml"])
def test_a_file_that_is_no_module_concerns_the_tests_that_read_it(path: str) -> None:
    near = changed.nearness([Path(path)], {}, changed.imports_of_tests())
    assert set(near.values()) == {0}
    assert changed.select([Path(path)], near, {}).unread == ()


def test_a_file_that_no_test_reads_is_named() -> None:
    assert changed.select([Path("benchmarks/page.png")], {}, {}).unread == ("benchmarks/page.png",)


def test_what_is_further_away_is_left_out_and_named() -> None:
    """Without times what imports the change directly runs, with times what fits into them."""
    at_once = changed.select([STEP], NEAR, {})
    assert at_once.chosen == (STEP.as_posix(), *changed.ALWAYS, *list(NEAR)[:2])
    assert at_once.left_out == (list(NEAR)[2],)
    assert all((changed.ROOT / test).is_file() for test in changed.ALWAYS)
    short = {f"{test}::test": 0.1 for test in NEAR}
    assert changed.select([STEP], NEAR, short).left_out == ()
    long = short | {f"{list(NEAR)[1]}::test": 100.0}
    assert changed.select([STEP], NEAR, long).left_out == (list(NEAR)[2],)


def test_steps_are_counted_along_imports() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (("b", "a"), ("c", "b"), ("d", "c"), ("d", "a"), ("a", "e")):
        graph.add_import(importer=importer, imported=imported)
    assert changed.steps({"a", "new"}, graph) == {"a": 0, "new": 0, "b": 1, "d": 1, "c": 2}


def test_no_package_of_the_code_is_unknown() -> None:
    """A change of any module of any package concerns at least one file of tests."""
    for name in subprocess.run(["git", "ls-files", "*.py"], cwd=changed.ROOT, text=True,
                               capture_output=True, check=True).stdout.split():
        if name.startswith(("calc/", "catalogue/", "notebooks/", "book/", "tools/")):
            assert changed.module_of(Path(name)), name
    for imported in ("calc.physics.decode_floor", "notebooks.pages.deciding.goals",
                     "_ext.pipeline"):
        assert any(imported in names for names in changed.imports_of_tests().values()), imported


def test_what_differs_from_main_counts_committed_or_not(tmp_path: Path, monkeypatch) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@localhost", *arguments],
                       cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(changed, "ROOT", tmp_path)
    git("init", "-b", "main")
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("1\n")
    git("add", "-A")
    git("commit", "-m", "first")
    assert changed.changed_files() == []
    git("checkout", "-b", "branch")
    (tmp_path / "a.py").write_text("2\n")
    git("commit", "-am", "second")
    (tmp_path / "b.py").write_text("2\n")
    (tmp_path / "new.py").write_text("2\n")
    assert set(map(str, changed.changed_files())) == {"a.py", "b.py", "new.py"}
    git("checkout", "--", "b.py")
    git("checkout", "main")
    (tmp_path / "c.py").write_text("2\n")
    assert set(map(str, changed.changed_files())) == {"c.py", "new.py"}, "on main itself"
