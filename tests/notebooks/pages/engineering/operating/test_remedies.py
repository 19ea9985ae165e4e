"""Remedies of the documents: each is tried, and called by what it does to its symptom."""

from __future__ import annotations

import pytest

from notebooks.pages.engineering.operating import remedies
from notebooks.pages.engineering.operating.monitoring import LIVELY
from notebooks.pages.engineering.operating.remedies import (
    HARMS,
    HELPS,
    NOTHING,
    PLANS,
    SHORT_OF,
    TRIALS,
    UNFIT,
    state,
)

ALL = [name for document in ("s0", "s1") for _, name in remedies.remedies(document)]


def test_every_remedy_that_is_printed_is_tried_and_no_other() -> None:
    assert sorted(ALL) == sorted(TRIALS)


def test_every_symptom_of_s0_has_what_tells_it() -> None:
    first = [next(iter(symptom.remedies)) for symptom in remedies.symptoms("s0")]
    assert first == list(remedies.TELLS)


def test_the_rows_of_the_document_stand_in_its_order_and_within_their_section() -> None:
    lines = [symptom.line for symptom in remedies.symptoms("s0")]
    assert lines == sorted(set(lines))
    assert 1512 <= lines[0] <= lines[-1] <= 1536  # section 6.7


@pytest.mark.parametrize("name", ALL)
def test_a_verdict_is_that_of_the_numbers_beside_it(name: str) -> None:
    trial, called = TRIALS[name], remedies.verdict(name)
    before, after = state(trial.of), state(trial.of, name)
    if called == UNFIT:
        assert before.short <= 0 < after.short
    if trial.sign == "short":
        assert (called == HELPS) == (after.short <= 0)
        assert (called == HARMS) == (after.short > LIVELY * before.short)
        assert called != SHORT_OF or after.short < before.short
    elif called in (HELPS, HARMS):
        better = getattr(after, trial.sign) > getattr(before, trial.sign)
        assert better == ((called == HELPS) == (trial.sign in ("rate", "places")))
    elif called == NOTHING:
        assert getattr(after, trial.sign) == pytest.approx(
            getattr(before, trial.sign), rel=LIVELY - 1)


def test_what_the_text_says_helps_and_harms() -> None:
    found = {name: remedies.verdict(name) for name in ALL}
    assert {name for name, called in found.items() if called == HELPS} == {
        "shorter", "less-traffic", "more-places", "host-memory", "four-bits"}
    assert {name for name, called in found.items() if called == HARMS} == {
        "fewer-ranks", "less-memory", "eager"}


def test_what_moves_room_alone_says_which_way() -> None:
    """A larger step takes memory from the cache, a larger share of the card gives it some."""
    said = {name: remedies._said(name)[0] for name in ("larger-step", "more-memory")}
    assert said == {"larger-step": "no faster; holds fewer requests",
                    "more-memory": "no faster; holds more requests"}


def test_what_is_taken_to_run_fits_and_what_is_printed_does_not() -> None:
    assert {name: state(name).short <= 0 for name in PLANS} == {
        "s0": True, "s0-printed": False, "s1": True, "s1-one": False, "s1-lone": True}


def test_the_other_remedies_against_lack_of_memory_do_not_suffice_together() -> None:
    made = remedies.catalogue.load_scenario("s1-launch-single", overrides=[
        setting for name in ("fewer-places", "smaller-step", "less-memory")
        for setting in TRIALS[name].overrides])
    found = remedies.evaluate(made.inputs(), made.model.attention)
    assert found["memory_per_device"] > found["usable_memory"]
