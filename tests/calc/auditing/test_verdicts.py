"""Laws of verdicts: what cannot run does not hold, one number has one verdict, words are exact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calc.auditing import judging, settings
from calc.auditing.audit import audit
from calc.auditing.judging import (
    COMPATIBLE,
    FAILS,
    HOLDS,
    INFEASIBLE,
    MET,
    NUMBER,
    OPEN,
    REPRODUCED,
    SETTING,
    SPECIFICATION,
    THRESHOLD,
    WRONG,
    Judgement,
    meets,
    reaches,
)
from calc.auditing.origins import found, shortage
from calc.auditing.reasons import why
from calc.auditing.truths import deployment
from calc.uncertainty.amount import Amount
from catalogue.ledger.rows import EngineSetting
from catalogue.reading.printed import read

SHARES = st.integers(5, 95)
WITHIN = 0.05  # of what is printed, from where two numbers are not called the same
OWN = "By correct arithmetic on the document's own inputs"
FIGURE = "the figure is "
ROOM = "as if memory sufficed"


@pytest.fixture(scope="module")
def rows():
    return audit().rows


def test_what_cannot_run_does_not_hold(rows):
    standing = [row for row in rows if row.case.fits is False
                and row.judgement.verdict != THRESHOLD]  # an alert is judged by running it
    assert standing
    assert [row.id for row in standing if row.judgement.standing == HOLDS] == []


def test_a_setting_holds_only_where_its_deployment_and_its_command_start(rows):
    kept = [row for row in rows if row.judgement.verdict == SETTING
            and row.judgement.standing == HOLDS]
    for row in kept:
        assert row.case.deployment is None or deployment(row.case.deployment).fits, row.id
        assert not row.case.ruling.beside, row.id


def test_what_a_person_found_of_a_setting_is_what_the_audit_says(rows):
    found = {row.id: row for row in rows if row.case.ruling and row.case.ruling.stated}
    assert found
    for row in found.values():
        assert row.case.ruling.stated.claim == row.id
        state = row.judgement.also[0]
        assert state == row.case.ruling.stated.state or state in settings.STOPS
        if state in ("stops", "unread", "worse", "misses", "wrong"):
            assert row.judgement.standing == FAILS
        if state == "open" and INFEASIBLE not in row.judgement.also:
            assert row.judgement.standing == OPEN


@pytest.mark.parametrize("name", ["max_paddings", "use_v2_block_manager_of_old"])
def test_releases_older_than_the_model_are_not_asked(name):
    asked = EngineSetting(program="vLLM", engine="vllm", name=name, value=512)
    assert settings.ruling(asked, "S1-000", "s1", "0").state == "unknown"


def test_on_ascend_the_plug_in_is_asked_of_what_it_changes():
    asked = EngineSetting(program="vLLM", engine="vllm", name="quantization", value="awq")
    assert settings.ruling(asked, "S0-000", "s0", "0", "cuda").state == "accepted"
    assert settings.ruling(asked, "S0-000", "s0", "0", settings.ASCEND).state == "choice"


def test_one_unknown_argument_stops_the_whole_command():
    port = EngineSetting(program="vLLM", engine="vllm", name="--port", value=8000)
    assert settings.ruling(port, "S1-000", "s1", "3.5.1").beside == (
        "--max-chunked-prefill-tokens",)
    assert settings.ruling(port, "S1-000", "s1", "4.1.1").beside == ()


@given(SHARES, SHARES, st.floats(0.01, 0.99), st.floats(1.0, 1.5))
def test_a_share_and_a_percentage_have_one_verdict(one, other, value, wide):
    """As ranges: 0.8-0.9 is 80-90 %."""
    low, high = sorted((one, other + 5))
    ours = Amount(value, value / wide, value * wide)
    percent, share = read([f"{low} %", f"{high} %"]), read([low / 100, high / 100])
    assert meets(percent, ours, None) == meets(share, ours, None)
    assert reaches(percent, ours, None) == reaches(share, ours, None)


@given(st.floats(1e-3, 1e3), st.floats(1.0, 1.5), st.floats(1e-3, 1e3))
def test_digits_that_are_printed_do_not_widen_our_interval(value, wide, number):
    """Fewer digits may reproduce a number, and bring no other closer to the interval."""
    ours = Amount(value, value / wide, value * wide)
    rough, fine = read(f"{number:.1f}"), read(f"{number:.1f}00000")
    if not meets(rough, ours, None):
        assert reaches(rough, ours, None) == reaches(fine, ours, None)


def test_about_is_a_rounding_to_a_twentieth_and_no_more():
    printed = read("55 %")
    assert meets(printed, Amount.exactly(0.538), None, about=True)
    assert not meets(printed, Amount.exactly(0.538), None)
    assert not meets(read("110"), Amount.exactly(118.0), None, about=True)


def test_words_of_agreement_stand_beside_numbers_that_agree(rows):
    """Reproduced, and a specification that is right, show what was printed; a limit is met."""
    for row in rows:
        case, verdict = row.case, row.judgement.verdict
        if case.printed is None or case.truth is None or case.itself:
            continue
        right = verdict == SPECIFICATION and WRONG not in row.judgement.also
        if (verdict == REPRODUCED or (right and judging.BINARY not in row.judgement.also)):
            assert case.bound is None, row.id
            near = abs(case.truth.three.value - case.printed.value) <= max(
                WITHIN * abs(case.printed.value), max(case.printed.last))
            inside = case.printed.low <= case.truth.three.value <= case.printed.high
            assert near or inside or case.own is not None, row.id
        if verdict == MET:
            assert case.bound is not None, row.id


def test_what_has_no_formula_has_no_wrong_formula(rows):
    for row in rows:
        if row.judgement.verdict in (judging.FORMULA, judging.BOTH, judging.INPUT):
            assert row.case.own is not None, row.id
        if row.judgement.verdict == NUMBER:
            assert row.case.own is None or row.case.reconstructed, row.id


def test_every_sentence_says_where_its_number_comes_from(rows):
    """No bare number of ours, and none that the document does not have beside it."""
    for row in rows:
        said = why(row.case, row.judgement)
        assert "Ours" not in said["en"], row.id
        assert said["en"].endswith((".", ")", "?")), row.id
        assert len(said["en"]) > 20, row.id
        assert len(said["zh"]) > 8, row.id


def test_verdicts_that_hold_and_that_do_not_are_told_apart():
    assert Judgement(SETTING, ("accepted",)).standing == HOLDS
    assert Judgement(SETTING, ("accepted", INFEASIBLE)).standing == FAILS
    assert Judgement(SETTING, ("open",)).standing == OPEN
    assert Judgement(SETTING, ("open", INFEASIBLE)).standing == FAILS
    assert Judgement(COMPATIBLE, (INFEASIBLE,)).standing == FAILS


def test_of_several_reasons_not_to_run_the_first_is_told_which_is_memory():
    name = "s0-config-4.1-fp8"
    first, *others = deployment(name).why_not
    assert (first.kind, len(others)) == ("memory_capacity", 1)
    needed, usable = (first.numbers[key] / 1e9 for key in ("memory_per_device", "usable_memory"))
    assert shortage(name)[0] == f"a card needs {needed:.3g} GB and may use {usable:.3g} GB"


def test_a_number_is_of_the_document_s_own_inputs_exactly_where_nothing_else_is_named(rows):
    of_nothing = 0
    for row in rows:
        truth = row.case.truth
        if truth is None:
            continue
        alone = not (truth.parts or truth.sources or truth.scenario
                     or {"/", ":"} & set(truth.where))
        assert (found(truth)[0] == OWN) <= (not truth.parts), row.id
        if alone:
            of_nothing += 1
            assert found(truth)[0] == OWN, row.id
    assert of_nothing


def test_of_what_cannot_run_our_number_is_told_exactly_where_it_differs(rows):
    told = {True: 0, False: 0}
    for row in rows:
        case, truth = row.case, row.case.truth
        if row.judgement.verdict != INFEASIBLE:
            continue
        said = why(case, row.judgement)["en"]
        ours = truth is not None and not truth.given and bool(truth.three.value)
        stopped = ours and truth.scenario is not None and not deployment(truth.scenario).fits
        differs = ours and not meets(case.printed, truth.three, case.bound, case.approximate)
        assert (FIGURE in said or ROOM in said) <= ours, row.id
        if differs and not stopped:
            told[True] += 1
            assert found(truth)[0] in said, row.id
        elif not ours:
            told[False] += 1
    assert all(told.values())
