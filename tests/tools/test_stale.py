"""Outdated entries of the catalogue are listed, with how each kind is renewed."""

from __future__ import annotations

import json
from datetime import date

import pytest

from catalogue import shipped
from tools.stale import main, recipe, stale

AS_OF = date(2026, 11, 25)


@pytest.mark.parametrize("days", [0, 365, 100_000])
def test_counts_match_the_lists(days: int) -> None:
    result = stale(["prices", "devices"], days, AS_OF)
    for kind, total in result["totals"].items():
        assert total["old"] == sum(row["kind"] == kind for row in result["old"])
        assert total["old"] == {0: total["dated"], 100_000: 0}.get(days, total["old"])
    assert all(row["age"] >= days for row in result["old"])


@pytest.mark.parametrize("kind", shipped.KINDS)
def test_each_kind_has_a_recipe(kind: str) -> None:
    assert set(recipe(kind)) == {"source", "write", "check"}


def test_output_for_programs_and_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--kind=prices", "--as-of=2026-11", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert (result["as_of"], [*result["renewing"]]) == ("2026-11-30", ["prices"])
    main(["--kind=prices", "--older=100000"])
    assert recipe("prices")["check"] in capsys.readouterr().out


@pytest.mark.parametrize("wrong", ["--older=-1", "--older=a", "--as-of=2026-02-30", "--kind=x"])
def test_wrong_arguments_are_refused(wrong: str) -> None:
    with pytest.raises(SystemExit) as end:
        main([wrong])
    assert end.value.code == 2
