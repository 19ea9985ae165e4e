"""What is said of a verdict: one sentence for each way that numbers can lie, with all of them."""

from __future__ import annotations

from types import SimpleNamespace as Made

import pytest

from calc.auditing import judging, origins, reasons
from calc.auditing.cases import Case
from calc.auditing.claim_files import Listed
from calc.auditing.judging import Judgement
from calc.auditing.settings import Ruling
from calc.auditing.truths import Truth
from calc.uncertainty.amount import Amount
from catalogue.ledger.rows import EngineSetting
from catalogue.reading.printed import read

TEXT = {"en": "w", "zh": "w"}
OWN = "By correct arithmetic on the document's own inputs, the figure is "
FORMULA = "The document's own formula and inputs give "
NOTE = {"en": "Beside.", "zh": "另。"}
LONG = {"en": "n" * 101, "zh": "注"}
ASSUMED = {"en": "so it is.", "zh": "如此。"}


def truth(value, low=None, high=None, unit="s", where="S1-001", **others):
    return Truth(Amount(value, low or value, high or value), unit, where, **others)


def case(printed="100 ms", like=None, note=None, rests_on=None, **given):
    claim = Made(id="S1-001", like=like, note=note, rests_on=rests_on)
    return Case(Listed(claim, "s1", "here:1", {}), TEXT, "1",
                None if printed is None else read(printed), **given)


def said(verdict, also=(), clashes=(), **given):
    return reasons.why(case(**given), Judgement(verdict, also, clashes))["en"]


WIDE = truth(0.2, 0.15, 0.3)


@pytest.mark.parametrize(("given", "words"), [
    ({"own": 0.2}, FORMULA + "200 ms, not 100 ms."),
    ({"own": 0.2, "truth": truth(0.2)}, FORMULA + "200 ms, not 100 ms."),
    ({"own": 0.2, "truth": truth(0.3)}, FORMULA + "200 ms, not 100 ms. " + OWN + "300 ms."),
    ({"own": 0.2, "itself": True, "truth": truth(0.3)},
     "The document's own figures give 300 ms, not 100 ms."),
    ({"own": 0.2, "itself": True, "truth": WIDE},
     "The document's own figures give 150 ms to 300 ms, not 100 ms.")])
def test_arithmetic_that_does_not_hold(given, words):
    assert said(judging.ARITHMETIC, **given) == words


@pytest.mark.parametrize(("given", "words"), [
    ({"own": 0.104}, FORMULA + "104 ms, as printed."),
    ({"own": 0.11}, FORMULA + "110 ms, about the 100 ms that it prints as an approximation."),
    ({"own": 0.104, "itself": True, "truth": truth(0.104)},
     "The document's own figures give 104 ms, as printed."),
    # what is ours by the same formula on the same inputs is not told twice
    ({"own": 0.104, "truth": truth(0.103)}, FORMULA + "104 ms, as printed."),
    ({"own": 0.104, "truth": truth(0.103), "moved": {"a": (1.0, 2.0)}},
     OWN + "103 ms, which rounds to the printed 100 ms."),
    ({"own": 0.104, "truth": truth(0.103, where="S1-002")},
     OWN + "103 ms, which rounds to the printed 100 ms."),
    ({"truth": truth(0.103)}, OWN + "103 ms, which rounds to the printed 100 ms."),
    ({"truth": truth(0.1)}, OWN + "100 ms, as printed."),
    ({"truth": truth(0.1, 0.09, 0.12)}, OWN + "100 ms (90 ms to 120 ms), as printed."),
    ({"truth": truth(0.1, 0.09, 0.12, spans=True)}, OWN + "90 ms to 120 ms, as printed."),
    ({"truth": truth(0.1, spans=True)}, OWN + "100 ms, as printed."),
    ({"printed": ["90 ms", "120 ms"], "truth": truth(0.1)},
     OWN + "100 ms, inside the printed 90–120 ms.")])
def test_a_number_that_is_reproduced(given, words):
    assert said(judging.REPRODUCED, **given) == words


@pytest.mark.parametrize(("verdict", "bound", "compares", "words"), [
    (judging.MET, "at_least", False, "which meets the printed minimum of 100 ms."),
    (judging.MET, "at_most", False, "which keeps to the printed limit of 100 ms."),
    (judging.NUMBER, "at_least", False, "below the printed minimum of 100 ms."),
    (judging.NUMBER, "at_most", False, "above the printed limit of 100 ms."),
    (judging.SPECIFICATION, "at_most", False, "above the printed limit of 100 ms."),
    (judging.MET, "at_least", True, "above 100 ms: the statement holds."),
    (judging.MET, "at_most", True, "below 100 ms: the statement holds."),
    (judging.NUMBER, "at_least", True, "not above 100 ms: the statement does not hold."),
    (judging.NUMBER, "at_most", True, "not below 100 ms: the statement does not hold.")])
def test_a_limit_and_a_statement(verdict, bound, compares, words):
    begun = OWN.replace("figure", "number that decides the statement") if compares else OWN
    assert said(verdict, bound=bound, compares=compares, truth=truth(0.2)) == (
        f"{begun}200 ms, {words}")


@pytest.mark.parametrize(("printed", "bound", "words"), [
    ("100 ms", "at_most", "; the limit of 100 ms lies within this interval and may be kept."),
    ("160 ms", None, "; the printed 160 ms lies within this interval."),
    # a range around ours, one that reaches beyond it on either side, and one inside
    (["150 ms", "300 ms"], None, ", inside the printed 150–300 ms."),
    (["100 ms", "400 ms"], None, ", inside the printed 100–400 ms."),
    (["149 ms", "299 ms"], None,
     "; the printed 149–299 ms overlaps this interval, its middle inside."),
    (["151 ms", "301 ms"], None,
     "; the printed 151–301 ms overlaps this interval, its middle inside."),
    (["150 ms", "299 ms"], None, "; the printed 150–299 ms lies within this interval."),
    (["151 ms", "300 ms"], None, "; the printed 151–300 ms lies within this interval.")])
def test_a_number_within_our_interval(printed, bound, words):
    assert said(judging.COMPATIBLE, printed=printed, bound=bound, truth=WIDE) == (
        f"{OWN}200 ms (150 ms to 300 ms){words}")


@pytest.mark.parametrize(("also", "value", "words"), [
    ((judging.RIGHT,), 64e9, "64 GB, as printed."),
    ((judging.RIGHT,), 64.3e9, "64.3 GB, which rounds to the printed 64 GB."),
    ((judging.WRONG,), 96e9, "96 GB, not 64 GB."),
    ((judging.RIGHT, judging.BINARY), 64 * 2**30,
     "64 GiB, which is 68.7 GB: the document writes GB for GiB.")])
def test_a_specification(also, value, words):
    assert said(judging.SPECIFICATION, also, printed="64 GB", truth=truth(
        value, unit="B")) == OWN + words


LETTERS = {"memory_size": Made(unit="B", en="memory", zh="显存"),
           "users": Made(unit="request", en="users", zh="用户")}


@pytest.mark.parametrize(("verdict", "given", "words"), [
    (judging.INPUT, {"resourced": 0.204}, "The document's formula is right, its inputs are not: "
     "memory is 96 GB, not 64 GB. " + OWN + "200 ms."),
    (judging.INPUT, {"resourced": None}, "The document's formula is right, its inputs are not: "
     "memory is 96 GB, not 64 GB. " + OWN + "200 ms."),
    (judging.INPUT, {"resourced": 0.205}, "The document's inputs are wrong: memory is 96 GB, not "
     "64 GB. With the right ones its formula gives 205 ms, close to what a full calculation does. "
     + OWN + "200 ms."),
    (judging.INPUT, {"resourced": 0.195}, "The document's inputs are wrong: memory is 96 GB, not "
     "64 GB. With the right ones its formula gives 195 ms, close to what a full calculation does. "
     + OWN + "200 ms."),
    (judging.FORMULA, {"own": 0.1}, "The document's formula, which gives 100 ms, is wrong. "
     + OWN + "200 ms."),
    (judging.BOTH, {"own": 0.1}, "Both the document's formula and its inputs are wrong: memory is "
     "96 GB, not 64 GB. " + OWN + "200 ms."),
    (judging.BOTH, {"own": 0.1, "moved": {}}, "The document's formula, which gives 100 ms, is "
     "wrong. " + OWN + "200 ms."),
    (judging.NUMBER, {}, OWN + "200 ms, not 100 ms.")])
def test_what_is_wrong_with_a_number(verdict, given, words):
    assert said(verdict, truth=truth(0.2), letters=LETTERS, **{
        "moved": {"memory_size": (64e9, 96e9)}} | given) == words


def test_three_inputs_are_named_each_in_its_unit_and_by_its_letter_without_one():
    moved = {"memory_size": (64e9, 96e9), "users": (32.0, 80.0), "hit_share": (0.5, 0.25),
             "left": (1.0, 2.0)}
    found = said(judging.INPUT, truth=truth(0.2), letters=LETTERS, moved=moved)
    assert ("memory is 96 GB, not 64 GB, users is 80, not 32, hit share is 0.25, not 0.5. "
            in found)
    assert "left" not in found


@pytest.fixture
def stopped(monkeypatch):
    """Deployments of which none has room, and that named ``small`` does."""
    for module in (reasons, origins):
        monkeypatch.setattr(module, "deployment", lambda name: Made(fits=name == "small"))
    monkeypatch.setattr(reasons, "shortage", lambda name: (f"{name} is short", f"{name} 不足"))
    monkeypatch.setattr(origins, "planned", lambda name: (name, name))


STOPS = "The document's deployment does not run: big is short."


@pytest.mark.parametrize(("given", "words"), [
    ({"deployment": "big"}, STOPS), ({"deployment": "big", "truth": truth(0.1)}, STOPS),
    ({"deployment": "big", "truth": truth(0.0)}, STOPS),
    ({"deployment": "big", "truth": truth(0.2, given=True)}, STOPS),
    ({"deployment": "big", "truth": truth(0.2)}, f"{STOPS} {OWN}200 ms."),
    ({"truth": truth(0.2, scenario="big")},
     f"{STOPS} If its cards had enough memory, the figure would be 200 ms."),
    ({"deployment": "big", "truth": truth(0.2, scenario="small")},
     f"{STOPS} Computed for small, the figure is 200 ms."),
    ({"printed": "64 GB", "deployment": "big", "truth": truth(96e9, unit="B", scenario="big")},
     f"{STOPS} Computed for big, as if memory sufficed, the figure is 96 GB."),
    ({"deployment": "big", "truth": truth(0.2), "bound": "at_least"}, STOPS),
    ({"deployment": "big", "truth": truth(0.104), "approximate": True}, STOPS)])
def test_what_cannot_run(stopped, given, words):
    assert said(judging.INFEASIBLE, **given) == words


def test_that_a_deployment_does_not_run_turns_what_speaks_for_a_claim(stopped):
    """After what holds it is a but, after what does not one thing more."""
    of = {"deployment": "big", "fits": False, "truth": truth(0.1)}
    for verdict in (judging.REPRODUCED, judging.MET, judging.COMPATIBLE, judging.SPECIFICATION):
        assert said(verdict, (judging.INFEASIBLE,), bound=None, **of).endswith(
            " But the document's deployment does not run: big is short.")
    assert said(judging.NUMBER, (judging.INFEASIBLE,), **of).endswith(f"100 ms. {STOPS}")
    assert "does not run" not in said(judging.NUMBER, **of)


def ruled(state, *beside, **others):
    setting = EngineSetting(program="vLLM", engine="vllm", name="max_num_seqs", value=8)
    return {"setting": setting, "ruling": Ruling(state, "0.9", "0.12", beside, **others)}


@pytest.mark.parametrize(("names", "told"), [
    (("--a",), "--a."), (("--a", "--b", "--c"), "--a, --b, --c."),
    (("--a", "--b", "--c", "--d"), "--a, --b, --c and others.")])
def test_a_setting_stands_beside_others_that_stop_its_command(names, told):
    found = said(judging.SETTING, ("accepted", judging.INFEASIBLE), **ruled("accepted", *names))
    assert found == ("vLLM takes max_num_seqs with this value (releases 0.9 to 0.12). But no "
                     "release that serves the model starts with the document's other settings "
                     "beside it, because of " + told)
    assert "But" not in said(judging.SETTING, ("accepted", judging.INFEASIBLE), fits=True,
                             **ruled("accepted"))


@pytest.mark.parametrize(("state", "words"), [
    ("unknown", "No release of vLLM that serves the model has max_num_seqs (releases 0.9 to 0.12 "
     "were read)."),
    ("works", "max_num_seqs of vLLM: it does what the document says."),
    ("no-catalogue", "max_num_seqs of vLLM: this book does not hold what the program makes of it, "
     "so it cannot be decided.")])
def test_a_setting(state, words):
    assert said(judging.SETTING, (state,), **ruled(state)) == words


@pytest.mark.parametrize(("clashes", "words"), [
    (("S0-001",), "Contradicted by claim S0-001."),
    (("S0-001", "S0-002", "S0-003"), "Contradicted by claims S0-001, S0-002, S0-003."),
    (("S0-001", "S0-002", "S0-003", "S0-004"),
     "Contradicted by claims S0-001, S0-002, S0-003 and others.")])
def test_three_claims_that_say_otherwise_are_named(clashes, words):
    assert said(judging.REPRODUCED, clashes=clashes, own=0.1) == (
        f"{FORMULA}100 ms, as printed. {words}")


@pytest.mark.parametrize(("given", "words"), [
    ({}, "This cannot be checked. What is missing: a source."),
    ({"missing": {"en": "a log.", "zh": "日志。"}},
     "This cannot be checked. What is missing: a log."),
    ({"truth": truth(0.1, listed=True, sources=("s1",))},
     "Only the document itself says so; nothing independent confirms or refutes it."),
    ({"truth": truth(0.1, listed=True, sources=("s1",)), "missing": {"en": "a log.", "zh": "志。"}},
     "This cannot be checked. What is missing: a log.")])
def test_what_cannot_be_checked(given, words):
    assert said(judging.UNVERIFIABLE, **given) == words
    assert said(judging.ASSUMPTION, missing={"en": "a log.", "zh": "志。"}) == (
        "This is an assumption of the document. It could be judged with: a log.")


RIGHT = f"{FORMULA}100 ms, as printed."


@pytest.mark.parametrize(("given", "words"), [
    ({"note": NOTE}, "Beside."), ({"rests_on": ASSUMED}, "Assumed here: so it is."),
    ({"note": NOTE, "rests_on": ASSUMED}, "Beside. Assumed here: so it is.")])
def test_what_a_reader_should_know_besides(given, words):
    whole = case(own=0.1, **given)
    whole = Case(**{**vars(whole), **given})
    assert reasons.why(whole, Judgement(judging.REPRODUCED))["en"] == f"{RIGHT} {words}"


@pytest.mark.parametrize(("own", "of_first", "words"), [
    # a short note is told again, a long one where it stands first
    ({}, {"note": NOTE}, "Beside."), ({}, {"note": LONG}, "More at S1-000, of the same quantity."),
    ({}, {"note": {"en": "n" * 100, "zh": "注"}}, "n" * 100),
    ({"note": LONG}, {"note": LONG}, "n" * 101),
    ({}, {"rests_on": ASSUMED}, "More at S1-000, of the same quantity."),
    ({"rests_on": ASSUMED}, {"rests_on": ASSUMED}, "Assumed here: so it is."),
    ({}, {"note": NOTE, "rests_on": ASSUMED}, "Beside. More at S1-000, of the same quantity."),
    ({}, {"note": LONG, "rests_on": ASSUMED}, "More at S1-000, of the same quantity."),
    ({}, {}, "")])
def test_a_claim_made_again_says_where_more_is_told(own, of_first, words):
    whole = Case(**{**vars(case(own=0.1, like="S1-000", **own)), **of_first})
    assert reasons.why(whole, Judgement(judging.REPRODUCED))["en"] == f"{RIGHT} {words}".rstrip()


def test_the_step_of_a_formula_is_told_where_its_claim_fails_and_no_note_stands_first():
    step = {"formula": Made(step={"en": "Half.", "zh": "半。"}), "own": 0.2, "letters": {}}
    assert said(judging.ARITHMETIC, **step).endswith("not 100 ms. Half.")
    assert "Half" not in said(judging.REPRODUCED, **step | {"own": 0.1})
    noted = Case(**{**vars(case(**step)), "note": NOTE})
    assert reasons.why(noted, Judgement(judging.ARITHMETIC))["en"].endswith("not 100 ms. Beside.")
    stated = ruled("works", stated=Made(note={"en": "Read.", "zh": "读。"}))
    assert said(judging.SETTING, ("works",), **stated).endswith("says. Read.")
