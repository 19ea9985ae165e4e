"""First answers: ``deploy`` writes them, their limits hold simulated, and what is kept is current.

All goals of the catalogue and sixty that are drawn are gone through by ``python -m benchmarks
answers``; here what it kept, one of the former again, and some of the latter.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import answering
from calc.launching.starting import search
from catalogue import ROOT
from notebooks.pages.deciding import goals
from notebooks.pages.deciding.firsts import expected
from notebooks.show.columns import cells

RESULTS = ROOT.parent / "benchmarks" / "results.json"
SOME = range(0, answering.DRAWN, 10)


def test_of_every_goal_of_the_catalogue_the_first_answer_starts_and_keeps_its_limits():
    kept = expected.stored_answers()
    results = json.loads(Path(RESULTS).read_text("utf-8"))
    assert sorted(kept) == sorted(answering.catalogue_goals())
    met = {name: found for name, found in kept.items() if found}
    assert results["answers_catalogue_met"]["value"] == len(met) == len(kept)
    for name, found in met.items():
        assert answering.passes(found), name


def test_what_is_kept_is_what_is_computed():
    name = "r1-910b2-least"
    answer = search(name)
    now = json.loads(json.dumps(answering.judged(answer)))
    before = expected.stored_answers()[name]
    assert now["row"]["choice"] == before["row"]["choice"]
    assert now["row"]["start"] == before["row"]["start"]
    assert now["row"]["quantities"] == pytest.approx(before["row"]["quantities"], rel=1e-6)
    kernels = "CANN W4A8 grouped matmul", "CANN W4A8 分组矩阵乘"  # of params/kernels/sglang.yml
    for told, kernel in zip(goals.starts(answer, answer.front[0][0].row), kernels, strict=True):
        assert now["row"]["start"]["engine"] in told
        assert kernel in told


@pytest.mark.one
@pytest.mark.parametrize("number", SOME)
def test_of_a_drawn_goal_the_first_answer_starts_and_keeps_its_limits(number):
    answer = search(answering.goal_of(number))
    if not answer.met:  # counted by the benchmark
        assert answer.as_json()["nearest_miss"] is not None or answer.missed or answer.refused
        return
    found = answering.judged(answer)
    assert answering.passes(found)
    for at, stated in (found["simulated"] or {"seen": {}})["seen"].items():
        limits = answer.result.wishes.goal.limits.times[at]
        assert all(stated[each] <= limit for each, limit in limits.items())


def test_the_benchmark_counted_all_of_them():
    results = json.loads(Path(RESULTS).read_text("utf-8"))
    assert results["answers_drawn"]["value"] == answering.DRAWN
    assert results["answers_drawn_pass"] == results["answers_drawn_met"]
    assert results["answers_drawn_met"]["value"] >= answering.DRAWN / 2


def test_the_eight_questions_are_told_in_both_languages(monkeypatch):
    told, numbers = [], {}
    monkeypatch.setattr(expected, "table", lambda rows, columns, wide: told.extend(
        cells(rows, columns)[0]))
    monkeypatch.setattr(expected, "numbers", numbers.update)
    expected.eight()
    assert len(told) == 8
    for row in told:
        for en, zh in row.values():
            assert en
            assert zh
    assert numbers == {"firsts-goals": len(expected.stored_answers())}
    assert not [row for row in told for _, zh in row.values() if "tokens" in zh]
