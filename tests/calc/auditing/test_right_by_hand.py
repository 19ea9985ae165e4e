"""What is right instead of a claim, in its unit; places of claims; files of which one is bad."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace as Made

import pytest

import catalogue
from calc.auditing import claim_files
from calc.auditing.audit import Audit, Audited, audit
from calc.auditing.cases import ITSELF, Case, _claimed, _example
from calc.auditing.claim_files import Listed, listed_beside, listed_in, quantities_named
from calc.auditing.judging import ARITHMETIC, NUMBER, REPRODUCED, Judgement
from calc.auditing.right import both_ends, compared, computed, made_of, moved, same_unit, tried
from calc.auditing.truths import Truth, deployment
from calc.uncertainty.amount import Amount
from catalogue import ParamsError
from catalogue.ledger.rows import Claim, Comparison
from catalogue.library import locate
from catalogue.reading.printed import read
from catalogue.reading.values import Provenance

TEXT = {"en": "w", "zh": "w"}
FILED = Provenance({"source": "x y", "kind": "documented"}, frozenset(), print)


def claim(**given):
    told = {"id": "S1-005", "line": 1, "section": "1", "what": TEXT} | given
    return Claim.model_validate(told, context=FILED)


def truth(number, unit="1"):
    return Truth(Amount.exactly(number), unit, "there")


def test_a_limit_is_exact_and_has_the_side_on_which_a_statement_holds():
    above, below = (compared(Comparison.model_validate(given, context=FILED)) for given in (
        {"of": "a", "above": "100 ms"}, {"of": ["add", "a", 1], "below": "2 s"}))
    assert (above[0], above[1].value, above[1].last, above[2]) == ("a", 0.1, (0,), "at_least")
    assert (below[0], below[1].value, below[1].last, below[2]) == (
        ["add", "a", 1], 2, (0,), "at_most")


@pytest.mark.parametrize(("given", "made"), [
    ({"truth": "claims/S1-001"}, True), ({"truth": "measurements/m/c"}, True),
    ({"truth": "devices/d/a"}, False), ({"truth": "plan:tpot"}, False),
    *(({"right": ["add", "a", "b"], "sourced": {"a": "claims/S1-001", "b": other}}, made)
      for other, made in (("measurements/m/c", True), ("devices/d/a", False),
                          ("claims/x/price/y", False))),
    ({"right": ["multiply", "a", "b"], "sourced": {"a": "claims/S1-001"}, "inputs": {"b": "1 s"}},
     True),  # one is a unit
    ({"right": ["multiply", "a", "b"], "sourced": {"a": "claims/S1-001"}, "inputs": {"b": "2 s"}},
     False),
    ({"truth": "claims/S1-001", "bound": "at_most"}, False),
    ({"formula": "b", "inputs": {"b": "1"}, "truth": "claims/S1-001"}, False),
    ({"right": "b", "inputs": {"b": "1"}}, False)])
def test_a_claim_is_held_against_entries_of_some_kinds_alone(given, made):
    assert made_of(claim(printed=1, **given), ITSELF) is made


@pytest.mark.parametrize(("printed", "value"), [
    ([12, 18], 20), ([13, 18], 10), ([12, 17], 20), ([12, 99], 10), ([1, 17], 20)])
def test_of_a_range_that_end_is_ours_which_lies_farther_outside_of_what_is_printed(printed, value):
    least = Truth(Amount(10.0, 9.0, 11.0), "s", "there", "plan")
    found = both_ends(least, truth(20.0), read(printed))
    assert (found.three.value, found.three.low, found.three.high) == (value, 10, 20)
    assert (found.spans, found.where, found.scenario) == (True, "there", "plan")


@pytest.mark.parametrize(("given", "sourced", "ours", "says"), [
    ({"printed": "1 s", "formula": "a", "inputs": {"a": "1 GB"}}, {}, None,
     "formula comes out in B, what is printed is in s"),
    ({"printed": "1 s", "right": "a", "sourced": {"a": "devices/d/a"}}, {"a": truth(1, "B")}, None,
     "right comes out in B, what is printed is in s"),
    ({"printed": ["1 s", "2 s"], "right": "b", "most": "a", "inputs": {"b": "1 s"},
      "sourced": {"a": "devices/d/a"}}, {"a": truth(1, "B")}, None, "most comes out in B"),
    ({"words": "w", "comparison": {"of": "a", "above": "1 s"}, "inputs": {"a": "1 GB"}}, {}, None,
     "comparison comes out in B, what is printed is in s"),
    ({"printed": "1 s", "formula": "a", "inputs": {"a": "1 s"}, "sourced": {"a": "devices/d/a"}},
     {"a": truth(1, "B")}, None, "the input 'a' is in s, its source in B"),
    ({"printed": "1 s", "truth": "devices/d/a"}, {}, truth(1, "B"),
     "the truth is in B, what is printed in s"),
    ({"printed": "1 s", "formula": "a", "inputs": {"a": "1 s"}, "sourced": {"b": "devices/d/a"}},
     {"b": truth(1, "B")}, truth(1, "s"), None),
    ({"printed": "1 ms", "formula": "a", "inputs": {"a": "1 s"}}, {}, truth(1, "s"), None),
    ({"printed": "1 s", "right": 0}, {}, None, None),
    ({"words": "w", "missing": TEXT}, {}, truth(1, "B"), None)])
def test_what_comes_out_in_another_unit_than_is_printed_is_refused(given, sourced, ours, says):
    made = claim(**given)
    if says is None:
        same_unit(made, sourced, ours)
        return
    with pytest.raises(ValueError, match=says):
        same_unit(made, sourced, ours)


def test_a_right_formula_has_the_interval_of_what_goes_into_it():
    known = {"a": Amount(3.0, 2.0, 5.0), "b": Amount.exactly(4.0), "unused": Amount(1.0, 0.1, 9.0)}
    found = computed(["multiply", "a", "b"], known, "s", "there", "plan")
    assert found.three.points == pytest.approx((12, 8, 20), rel=1e-6)
    assert (found.unit, found.where, found.scenario) == ("s", "there", "plan")
    with pytest.raises(ValueError, match="'c' has no value"):
        computed(["multiply", "d", "c"], known, "s", "there", None)


def test_a_formula_is_tried_where_every_letter_has_a_value():
    known = {"a": Amount(3.0, 2.0, 5.0), "b": Amount.exactly(4.0)}
    assert tried(["subtract", "a", "b"], known) == -1
    assert tried(["subtract", "a", "c"], known) is None
    assert tried(None, known) is None


@pytest.mark.parametrize(("theirs", "ours", "differs"), [
    (2.0, 2.0, False), (2.0, 2.0000019, False), (2.0, 2.0000021, True), (2.0, 1.9999979, True),
    (-2.0, -2.0000019, False), (0.0, 0.0, False), (0.0, 1e-30, True)])
def test_an_input_is_another_from_a_millionth_of_itself_on(theirs, ours, differs):
    assert moved({"a": theirs}, {"a": ours, "b": 7}) == ({"a": (theirs, ours)} if differs else {})


def test_an_example_of_a_formula_is_named_by_its_number():
    whole = catalogue.load("formulas", "s1")
    made = next(each for each in whole.formulas if len(each.examples) > 1)
    for number, example in enumerate(made.examples, 1):
        found, formula, file = _example(f"{made.id}.{number}")
        assert (found, formula.id, file.id) == (example, made.id, "s1")
    with pytest.raises(ParamsError, match=r"there is no example .* in params/formulas/, the near"):
        _example(f"{made.id}.{len(made.examples) + 1}")
    with pytest.raises(ParamsError, match=r"there is no example 's1-f99\.1'"):
        _example("s1-f99.1")


def test_a_claim_of_a_deployment_is_named_by_its_quantity_and_of_several_by_its_number():
    documented = deployment("s1-plan-d").scenario.documented
    several = [each for each in documented.claims if each.quantity == "output_throughput"]
    assert len(several) > 1
    for number, each in enumerate(several, 1):
        found, whole, of = _claimed(f"s1-plan-d:output_throughput.{number}")
        assert (found, whole, of) == (each, documented, deployment("s1-plan-d"))
    single = next(each for each in documented.claims if sum(
        other.quantity == each.quantity for other in documented.claims) == 1)
    for place in (f"s1-plan-d:{single.quantity}", f"s1-plan-d:{single.quantity}.1"):
        assert _claimed(place)[0] is single
    for place, count in ((f"s1-plan-d:output_throughput.{len(several) + 1}", len(several)),
                         ("s1-plan-d:output_throughput", len(several)),
                         (f"s1-plan-d:{single.quantity}.2", 1), ("s1-plan-d:no_such", 0),
                         ("h200-v32-vllm-dp8:tpot", 0)):
        with pytest.raises(ParamsError, match=f"names {count} claims, expected one"):
            _claimed(place)


HEAD = "title: {en: t, zh: t}\ndocument: s1\ndefaults: {source: s1, kind: documented}\nclaims:\n"
GOOD = "what: {en: w, zh: w}, section: '1', line: 1, printed: 2, missing: {en: m, zh: m}"


def file(path: Path, *claims, head=HEAD):
    path.write_text(head + "".join(f"  - {{{each}}}\n" for each in claims), encoding="utf-8")
    return path


def test_each_bad_claim_is_a_sentence_with_its_line_and_the_others_stand(tmp_path):
    path = file(tmp_path / "a.yml", f"id: S1-003, {GOOD}", "id: S1-002, line: 1",
                f"id: S1-001, {GOOD}", f"id: S1-00, {GOOD}", f"id: S1-003, {GOOD}")
    found, problems = listed_in([path])
    assert [(each.claim.id, each.document, each.place.rpartition(":")[2]) for each in found] == [
        ("S1-001", "s1", "7"), ("S1-003", "s1", "5")]
    assert len(problems) == 3
    for problem, line in zip(problems, (6, 8, 9), strict=True):
        assert f"a.yml:{line}:" in problem
    assert problems[2].endswith("a.yml:5 already.")


def test_what_is_wrong_with_a_whole_file_is_one_sentence(tmp_path):
    head = HEAD.replace("document: s1", "document: s7")
    good, bad = f"id: S1-001, {GOOD}", "id: S1-002, line: 1"
    found, [problem] = listed_in([file(tmp_path / "a.yml", good, good, head=head)])
    assert (found, "a.yml:2" in problem) == ([], True)
    found, [problem] = listed_in([file(tmp_path / "b.yml", bad, head=head)])
    assert found == []
    found, [problem] = listed_in([tmp_path / "c.yml"])
    assert "c.yml" in problem
    # beside a bad file another stands
    found, problems = listed_in([tmp_path / "a.yml", file(tmp_path / "d.yml", good)])
    assert ([each.claim.id for each in found], len(problems)) == (["S1-001"], 1)
    found, problems = listed_in([tmp_path / "c.yml", tmp_path / "d.yml"])
    assert ([each.claim.id for each in found], len(problems)) == (["S1-001"], 1)


def test_a_file_of_a_reader_takes_the_place_of_the_one_of_its_name(monkeypatch, tmp_path):
    """Here beside two shipped files alone."""
    first, second = catalogue.names("claims")[:2]
    monkeypatch.setattr(claim_files, "names", lambda kind: [first, second])
    shipped = {name: {each.claim.id for each in listed_in([locate("claims", name)])[0]}
               for name in (first, second)}
    bad = "id: S1-002, line: 1"
    found, problems = listed_beside(file(tmp_path / f"{first}.yml", f"id: S1-999, {GOOD}", bad))
    assert {each.claim.id for each in found} == shipped[second] | {"S1-999"}
    assert len(problems) == 1
    found, problems = listed_beside(file(tmp_path / "mine.yml", f"id: S1-999, {GOOD}"))
    assert {each.claim.id for each in found} == shipped[first] | shipped[second] | {"S1-999"}
    assert problems == []


def test_quantities_that_claims_name_are_those_of_their_references(monkeypatch):
    made = [Made(claim=Made(truth=truth, claim=place, alert=alert, sourced=sourced))
            for truth, place, alert, sourced in (
                ("plan:tpot/replica", None, None, {}), (None, "plan:ttft.2", None, {}),
                (None, None, Made(of="plan:e2e"), {"x": "plan:power", "y": "devices/d/a"}),
                ("devices/d/b", None, Made(of=None), {}), (None, None, None, {}))]
    monkeypatch.setattr(claim_files, "listed", lambda: (made, []))
    assert quantities_named.__wrapped__() == {"tpot", "ttft", "e2e", "power"}


def judged(name, verdict, cause=None, document="s1", printed=None, ours=None):
    case = Case(Listed(Made(id=name, line=3), document, "here:1", {}), TEXT, "1",
                None if printed is None else read(printed), cause=cause,
                truth=None if ours is None else ours)
    return Audited(case, Judgement(verdict))


def test_what_is_counted_of_an_audit():
    """Verdicts by document, and causes of those that fail alone."""
    whole = Audit((judged("S0-001", REPRODUCED, "b", "s0"), judged("S1-001", NUMBER, "a"),
                   judged("S1-002", ARITHMETIC, "a"), judged("S1-003", NUMBER)), ())
    assert whole.counts() == {"s0": {REPRODUCED: 1}, "s1": {NUMBER: 2, ARITHMETIC: 1}}
    assert list(whole.counts()["s1"]) == [ARITHMETIC, NUMBER]
    assert whole.causes() == {"a": 2}


@pytest.mark.parametrize(("printed", "ours", "off"), [
    ("3", truth(4.0), 0.75), (None, truth(4.0), None), ("3", None, None), ("3", truth(0.0), None)])
def test_how_far_off_a_number_is(printed, ours, off):
    assert judged("S1-001", NUMBER, printed=printed, ours=ours).off == off


def test_a_claim_as_data(tmp_path):
    path = file(tmp_path / "a.yml", "id: S1-001, what: {en: w, zh: 甲}, section: '7', line: 9, "
                "printed: [1 s, 3 s], formula: [multiply, a, b], inputs: {a: 2 s, b: 4}, "
                "right: [add, a, a]", f"id: S1-002, {GOOD.replace('printed: 2', 'words: w')}")
    row, words = (each.as_json() for each in audit(listed_in([path])).rows)
    why = row.pop("why")
    assert why["en"].startswith("The document's own formula and inputs give 8 s, not 1–3 s.")
    assert row == {
        "id": "S1-001", "document": "s1", "section": "7", "line": 9,
        "what": {"en": "w", "zh": "甲"},
        "verdict": ARITHMETIC, "also": [], "contradicted_by": [], "cause": None,
        "documented": {"value": 2, "low": 1, "high": 3, "unit": "s", "written": "1–3 s"},
        "recomputed": 8, "corrected": {"value": 4, "unit": "s", "low": 4, "high": 4,
                                       "by": "S1-001"}}
    assert (words["documented"], words["corrected"], words["recomputed"]) == (
        {"value": "w", "unit": None}, None, None)


def test_only_some_claims_are_judged_and_one_that_cannot_be_is_a_sentence(tmp_path):
    """Beside claims that are given no file of quantities is read."""
    path = file(tmp_path / "a.yml", f"id: S1-001, {GOOD}", f"id: S1-002, {GOOD}",
                "id: S1-003, line: 1, like: S1-009")
    claims = listed_in([path])
    assert [row.id for row in audit(claims, only=["S1-002"]).rows] == ["S1-002"]
    whole = audit(claims)
    assert [row.id for row in whole.rows] == ["S1-001", "S1-002"]
    assert [problem.partition("a.yml")[2][:11] for problem in whole.problems] == [":7: S1-003:"]
    assert whole.problems[0].endswith(".")
    assert not whole.problems[0].endswith("..")
    assert audit(claims, only=["S1-002"]).problems == ()
    assert audit((claims[0], ["before"]), only=[]).problems == ("before",)
