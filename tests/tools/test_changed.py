"""Which tests a change concerns: its own room's, and those of what imports it directly."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import changed

STEP = Path("calc/physics/step.py")
NEAR = {"calc.physics.step": {"calc.closed_form.evaluate"}}
FAR = {"calc.physics.step": {"calc.closed_form.evaluate", "calc.answer.estimate", "calc"}}
TESTS = {
    "tests/calc/physics/test_laws.py": {"numpy"},
    "tests/calc/quantities/test_everything.py": {"calc.closed_form.evaluate"},
    "tests/calc/answer/test_estimate.py": {"calc"},
    "tests/catalogue/test_catalogue.py": {"catalogue"},
    "tests/book/test_pages.py": {"_browser"},
    "tests/tools/test_with_helper.py": {"_fleet"},
    "tests/calc/physics/test_on_the_page.py": {"calc.physics.step", "site"},
}


def chosen(*paths: str, near=None, far=None) -> changed.Selection:
    return changed.select(map(Path, paths), near or {}, far or {}, TESTS)


def test_a_module_concerns_its_rooms_tests_those_of_its_importers_and_its_doctests() -> None:
    selection = chosen(STEP.as_posix(), near=NEAR, far=FAR)
    assert set(selection.chosen) == {
        "calc/physics/step.py", "tests/calc/physics/test_laws.py",
        "tests/calc/quantities/test_everything.py", *changed.ALWAYS}


def test_what_is_further_away_is_left_out_and_named() -> None:
    selection = chosen(STEP.as_posix(), near=NEAR, far=FAR)
    assert set(selection.left_out) == {"tests/calc/answer/test_estimate.py",
                                       "tests/calc/physics/test_on_the_page.py",
                                       "tests/book/test_pages.py"}


def test_a_changed_test_runs_and_so_do_those_whose_helper_changed() -> None:
    assert "tests/book/test_pages.py" in chosen("tests/book/test_pages.py").chosen
    assert "tests/tools/test_with_helper.py" in chosen("tests/support/_fleet.py").chosen


@pytest.mark.parametrize("path", ["params/devices/nvidia-h20.yml", "notebooks/memory.md",
                                  "book/_ext/pipeline.py", "pyproject.toml"])
def test_a_file_that_is_no_module_concerns_the_tests_that_read_it(path: str) -> None:
    tests = set(chosen(path).chosen) - {*changed.ALWAYS}
    assert tests
    assert all((changed.ROOT / test).exists() for test in tests)


def test_imports_of_the_code_decide() -> None:
    near, far = changed.neighbours([STEP])
    assert "calc.closed_form.evaluate" in near["calc.physics.step"]
    assert "calc.answer.estimate" in far["calc.physics.step"]
    assert "calc.answer.estimate" not in near["calc.physics.step"]
    needs = changed.needs_of_tests()
    assert "calc.physics.decode_floor" in needs["tests/calc/physics/test_laws.py"], "by _fleet"
    assert changed.SITE in needs["tests/book/test_book_build.py"]


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
