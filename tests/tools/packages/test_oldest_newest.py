"""Numbers under other packages: nothing that was not run counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools.packages import oldest_newest


@pytest.mark.parametrize("name", oldest_newest.REQUIREMENTS)
def test_every_package_of_the_runtime_has_a_lower_bound_and_no_other(name: str) -> None:
    lines = (oldest_newest.ROOT / name).read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line) for line in lines if not line.startswith("#")]
    assert wanted
    assert {one.operator for each in wanted for one in each.specifier} == {">="}
    assert all(len(each.specifier) == 1 for each in wanted)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No environment is made; the record is elsewhere."""
    monkeypatch.setattr(oldest_newest, "RECORD", tmp_path / "oldest_newest.json")
    monkeypatch.setattr(oldest_newest, "made", lambda folder, python, *wanted: Path(python))
    monkeypatch.setattr(oldest_newest, "versions", lambda python: {"python": str(python)})
    monkeypatch.setattr(oldest_newest, "answers", lambda python: {"estimate": {"tpot": 0.05}})
    return oldest_newest.RECORD


def test_the_record_has_versions_numbers_and_the_largest_difference(told: Path) -> None:
    assert oldest_newest.main(["3.11"]) == 0
    record = json.loads(told.read_text())
    assert [(row["packages"], row["values"], row["largest"], row["same"])
            for row in record["runs"]] == [("oldest", 1, 0.0, True), ("newest", 1, 0.0, True)]
    assert record["runs"][0]["versions"] == {"python": "3.11"}


def test_what_cannot_be_made_is_not_run_with_the_reason(
        told: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing(folder: Path, python: str, *wanted: str) -> Path:
        raise oldest_newest.EndedError("no interpreter found for Python 3.13")

    monkeypatch.setattr(oldest_newest, "made", missing)
    assert oldest_newest.main(["3.13"]) == 1
    assert "oldest packages: not run: no interpreter found" in capsys.readouterr().out
    assert "same" not in json.loads(told.read_text())["runs"][0]


def test_an_engine_that_does_not_answer_fails(told: Path, monkeypatch: pytest.MonkeyPatch,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    def crashed(python: Path) -> dict[str, object]:
        if python == Path("3.11"):
            raise oldest_newest.EndedError("AttributeError: ptp")
        return {}

    monkeypatch.setattr(oldest_newest, "answers", crashed)
    assert oldest_newest.main(["3.11"]) == 1
    assert "failed: AttributeError: ptp" in capsys.readouterr().out
