"""The chapter on settings: one thing moves at a time, on the nearest deployments that run."""

from __future__ import annotations

from functools import cache

import pytest

import catalogue
from calc.auditing.audit import audit
from catalogue import ParamsError
from catalogue.engines import engine
from notebooks.pages.catalogue import stated
from notebooks.pages.engineering.operating import around
from notebooks.pages.engineering.operating import settings as page
from notebooks.show import display


@cache
def found(key):
    return {(engine.bare(each.name), str(each.value)): each for each in page.worths(key)}


@pytest.mark.parametrize(("key", "change"), [
    ("s1", "parallelism.expert_parallel=1"),
    ("s0", f"parallelism.pipeline_parallel={page.STAGES // 2}")])
def test_what_was_changed_makes_the_command_run_and_less_does_not(key, change):
    assert page.answered(key)[page.ROOM] >= 0
    less = page.Case((change,) if key == "s1" else (change, f"cluster.nodes={page.STAGES // 2}"))
    assert page.answered(key, less)[page.ROOM] < 0


@pytest.mark.parametrize("key", ["s0", "s1"])
def test_a_worth_is_what_is_printed_less_what_it_takes_the_place_of(key):
    for (bare, _), each in found(key).items():
        if each.pace is None:
            assert each.words != (page.NOTHING, page.NOTHING), each.name
            continue
        first, other = (page.answered(key, page.MOVED[bare](key, value))
                        for value in (each.value, each.against))
        assert each.pace == first[page.PACE] - other[page.PACE]
        assert each.room == first[page.ROOM] - other[page.ROOM]


def test_a_share_of_memory_is_worth_that_share_of_a_card_and_no_time():
    lowered = found("s1")["gpu_memory_utilization", "0.8"]
    memory = page.scenario_with("s1").inputs()["memory_capacity"]
    assert (float(lowered.against), lowered.pace, lowered.first) == (0.9, 0, 0)
    assert lowered.room == pytest.approx((0.8 - 0.9) * memory, rel=0.01)


def test_what_no_release_has_is_told_so_and_not_computed():
    assert found("s1")["max_chunked_prefill_tokens", "8192"].words[0].startswith("In no release.")
    assert found("s1")["use_v2_block_manager", "True"].words[0].startswith("Gone after 0.9.2.")


def test_a_limit_below_the_load_counts_and_one_above_does_not():
    waiting, idle = (found("s0")["max_num_seqs", value] for value in ("32", "128"))
    assert waiting.pace < 0
    assert (idle.pace, idle.room) == (0, 0)
    assert idle.words == page.IDLE["max_num_seqs"]


@pytest.mark.parametrize("key", ["s0", "s1"])
def test_no_variable_gives_more_than_links_that_take_no_time(key):
    tried = around.at_most(key)
    assert tried["free"][page.SENT] == pytest.approx(0, abs=1e-6)
    assert tried["free"][page.PACE] < tried["as"][page.PACE]


def test_a_setting_stands_where_its_claim_stands():
    every = [each for subject in catalogue.names("settings") for each in stated.stated(subject)]
    claims = {row.id: row.case.listed.claim
              for row in audit(only=[each.claim for each in every if each.claim]).rows}
    for each in every:
        if each.claim:
            assert claims[each.claim].section in each.section.split(", ")
            assert each.claim.lower().startswith(each.document)


def test_a_setting_without_a_name_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "own.yml"
    path.write_text("name: {en: a, zh: 甲}\nsettings:\n  - {program: x, document: s1, section: a, "
                    "line: 1, state: open, note: {en: a, zh: 甲}}\n", "utf-8")
    with pytest.raises(ParamsError, match=r"own\.yml:3: .*'what' is missing, or name"):
        catalogue.load("settings", path)


def test_every_table_is_told_in_both_languages(monkeypatch):
    told = []
    monkeypatch.setattr(display, "show", lambda en, zh: told.append((en, zh)))
    monkeypatch.setattr(stated, "show", lambda en, zh: told.append((en, zh)))
    stated.feature_table()
    stated.runs_table()
    for subject in catalogue.names("settings"):
        stated.stated_table(subject)
    page.flag_table("s1")
    for en, zh in told:
        assert en.count("\n") == zh.count("\n")
        assert en != zh
