"""What the documents call available: a share is that of its servers, a mark that of its plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from calc.capacity.availability import available
from notebooks.pages.deciding.capacity import rated, scaling
from notebooks.show.numbers import fmt_percent, fmt_time


def test_every_plan_that_a_document_rates_is_cut_as_it_says() -> None:
    found = {each.scenario: rated.fleet(each.scenario) for _, each in rated.rated()}
    assert {name: (of.groups, of.servers) for name, of in found.items()} == {
        "s0-config-4.2": (1, 2), "s1-plan-a": (2, 1), "s1-plan-b": (3, 1), "s1-plan-c": (4, 1),
        "s1-plan-d": (2, 2)}
    assert (rated.fleet(*rated.RUNS).groups, rated.fleet(*rated.RUNS).servers) == (1, 4)


@pytest.mark.parametrize(("name", "share"), [
    ("s1-plan-a", 2 / 3), ("s1-plan-b", 1 / 3), ("s1-plan-c", 1 / 4), ("s1-plan-d", 1 / 2),
    ("s0-config-4.2", 1.0)])
def test_a_failed_server_takes_the_replicas_that_stand_on_it(name: str, share: float) -> None:
    assert rated.lost(name) == pytest.approx(share)
    assert rated.lost(*rated.RUNS) == 1


def test_a_pipeline_over_two_servers_is_there_less_than_either_of_them() -> None:
    of = rated.fleet("s0-config-4.2")
    up = available(of.between_failures, of.repair)
    assert of.promised(1) == pytest.approx(up**2 * (1 - of.restarting))
    assert of.promised(1) < up


def test_more_replicas_answer_more_surely_and_are_all_there_less_often() -> None:
    plans = [rated.fleet(name) for name in ("s1-plan-a", "s1-plan-b", "s1-plan-c")]
    dark = [rated.dark(of) for of in plans]
    assert dark == sorted(dark, reverse=True)
    whole = [of.promised(of.groups) for of in plans]
    assert whole == sorted(whole, reverse=True)
    assert all(level < rated.PROMISE for level in whole)  # as the text has it


def test_every_measure_is_told_by_the_throughput_that_it_leaves(monkeypatch):
    """Not one by time and the next by throughput: in a column the same quantity."""
    told = []
    monkeypatch.setattr(rated, "table", lambda rows, columns, wide: told.extend(
        [column.cell(row) for column in columns[-2:]] for row in rows))
    rated.measures()
    plans = [rated.fleet("s1-plan-c"), rated.fleet(*rated.RUNS)]
    *mended, down = told
    for row in mended:
        assert [cell.split(" → ")[0] for cell in row] == [
            fmt_percent(of.share, 2) for of in plans]
    assert down == [fmt_percent(1 - 1 / plan.groups, 0) for plan in plans]


def test_the_last_exercise_of_growth_asks_for_what_its_answer_computes():
    name, card, ttft, tpot = scaling.SHORT
    command = " ".join((name, *(f"--set {setting}" for setting in card),
                        f'--ttft "{fmt_time(ttft)}" --tpot "{fmt_time(tpot)}" --cards'))
    page = Path(__file__).parents[4] / "notebooks/scale.md"
    assert page.read_text(encoding="utf-8").count(f"`python -m calc capacity {command}`") == 2
