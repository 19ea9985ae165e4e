"""Outdated entries of the catalogue are listed, with how each kind is renewed."""

from __future__ import annotations

import re

import pytest

from catalogue import shipped
from tools.stale import main, recipe


@pytest.mark.parametrize("kind", shipped.KINDS)
def test_each_kind_has_a_recipe(kind: str) -> None:
    assert set(recipe(kind)) == {"source", "write", "check"}


def test_outdated_values_are_counted_and_listed(capsys: pytest.CaptureFixture[str]) -> None:
    for days in (0, 365, 100_000):
        main(["--kind=prices", f"--older={days}"])
        printed = capsys.readouterr().out
        old, dated = map(int, re.findall(r"\d+", printed.splitlines()[0]))
        assert len(re.findall(r"^params/", printed, re.MULTILINE)) == old
        assert old == {0: dated, 100_000: 0}.get(days, old)
        assert recipe("prices")["check"] in printed


@pytest.mark.parametrize("wrong", ["--older=-1", "--older=a", "--kind=x"])
def test_wrong_arguments_are_refused(wrong: str) -> None:
    with pytest.raises(SystemExit) as end:
        main([wrong])
    assert end.value.code == 2
