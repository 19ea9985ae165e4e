"""How far a printed number reaches, and which numbers and settings exclude each other."""

from __future__ import annotations

import math
from types import SimpleNamespace as Made

import pytest

from calc.auditing.cases import Case
from calc.auditing.claim_files import Listed
from calc.auditing.contradicting.contradictions import (
    NUMBERS,
    SETTING,
    VALUES,
    Contradiction,
    _finite,
    _meet,
    against,
    contradictions,
    excluded,
    reach,
    spelled,
)
from calc.auditing.contradicting.quantity_files import beside, claim_of, groups
from calc.auditing.judging import NUMBER, REPRODUCED, Judgement
from catalogue.ledger.quantities import Launch, NamedQuantity, NumericLaw, Quantities
from catalogue.ledger.rows import EngineSetting
from catalogue.reading.printed import read

TEXT = {"en": "name", "zh": "名"}
INF = math.inf


def case(printed, claim="S1-001", words=None, **given):
    listed = Listed(Made(id=claim, words=words), given.pop("document", "s1"), "here:1", {})
    return Case(listed, TEXT, given.pop("section", "1"),
                None if printed is None else read(printed), **given)


@pytest.mark.parametrize(("printed", "given", "end", "found"), [
    ("100", {}, "", (95, 105)), (["40", "900"], {}, "", (39.5, 905)),
    (["40", "900"], {}, "low", (39.5, 40.5)), (["40", "900"], {}, "high", (895, 905)),
    # a twentieth where the document says about, unless its digits are rougher
    ("55", {"approximate": True}, "", (52.25, 57.75)), ("1", {"approximate": True}, "", (0.5, 1.5)),
    (["40", "90"], {"approximate": True}, "", (38, 94.5)),
    (["40", "90"], {"approximate": True}, "low", (38, 42)),
    (["40", "90"], {"approximate": True}, "high", (85.5, 94.5)),
    ("100", {"bound": "at_most"}, "", (0, 105)), ("100", {"bound": "at_least"}, "", (95, INF)),
    (["40", "90"], {"bound": "at_most"}, "", (0, 90.5)),
    # an end of a range is a number, whatever its limit
    (["40", "90"], {"bound": "at_most"}, "low", (39.5, 40.5)),
    (["40", "90"], {"bound": "at_least"}, "high", (89.5, 90.5))])
def test_how_far_a_printed_number_reaches(printed, given, end, found):
    assert reach(case(printed, **given), end) == pytest.approx(found)


def test_words_without_a_number_reach_nowhere():
    assert reach(case(None)) is None


@pytest.mark.parametrize(("one", "other", "meet"), [
    ((1, 2), (2, 3), True), ((1, 2), (2.001, 3), False), ((2, 3), (1, 2), True),
    ((2, 3), (1, 1.999), False), ((1, 9), (3, 4), True), ((1, 2 - 1e-9), (2, 3), True),
    ((1, 2 - 1e-8), (2, 3), False), ((2, 3), (1, 2 - 1e-9), True)])
def test_two_reaches_meet_where_neither_begins_behind_the_other(one, other, meet):
    assert _meet(one, other) is meet


@pytest.mark.parametrize(("ends", "found"), [
    ((2.0, 3.0), (2, 3)), ((0.0, 3.0), (3e-9, 3)), ((2.0, INF), (2, 2e9))])
def test_an_open_side_is_far_off(ends, found):
    assert _finite(ends) == pytest.approx(found)


def law(holds):
    return NumericLaw(words=TEXT, left="a", holds=holds, right=["multiply", 2, "b"],
                      of=[{"a": "S1-001", "b": "S1-002"}])


@pytest.mark.parametrize(("holds", "a", "b", "broken"), [
    ("equal", (10, 10), (5, 5), False), ("equal", (10, 10), (4, 4.9), True),
    ("equal", (10, 10), (5.1, 6), True), ("equal", (10, 12), (4, 5), False),
    ("equal", (10, 12), (6, 7), False), ("equal", (10, 12), (6.01, 7), True),
    ("equal", (10 * (1 + 5e-10), 11), (5, 5), False), ("equal", (10 + 1e-7, 11), (5, 5), True),
    ("equal", (9, 10 - 1e-7), (5, 5), True),
    ("at_most", (10, 12), (4, 4.9), True), ("at_most", (10, 12), (4, 5), False),
    ("at_most", (10, 12), (50, 60), False), ("at_most", (10, INF), (1, 4), True),
    ("at_most", (0, 12), (1, 4), False)])
def test_a_law_excludes_reaches_that_lie_wholly_on_one_side(holds, a, b, broken):
    assert excluded(law(holds), {"a": a, "b": b}) is broken


def clash(kind, claims, right=()):
    return Contradiction(tuple(claims), kind, TEXT, "q", ("v",) * len(claims), tuple(right))


def test_of_numbers_that_a_law_excludes_those_that_hold_are_not_at_fault():
    assert against([clash(NUMBERS, "abc", "b")]) == {"a": ("b", "c"), "c": ("a", "b")}
    assert against([clash(NUMBERS, "abc", "abc")]) == {
        "a": ("b", "c"), "b": ("a", "c"), "c": ("a", "b")}
    assert against([clash(VALUES, "ab", "a")]) == {"a": ("b",), "b": ("a",)}
    assert against([clash(SETTING, "ca"), clash(VALUES, "ba")]) == {
        "a": ("b", "c"), "b": ("a",), "c": ("a",)}


def test_a_contradiction_as_data():
    made = clash(VALUES, ("S0-008", "S0-372"), ("S0-372",))
    assert made.as_json() == {
        "id": "S0-008~S0-372", "claims": ["S0-008", "S0-372"], "kind": "values", "subject": "q",
        "name": TEXT, "printed": ["v", "v"], "right": ["S0-372"]}


class Row:
    """A claim with its verdict."""

    def __init__(self, name, printed, holds=True, **given):
        self.id, self.case = name, case(printed, name, **given)
        self.judgement = Judgement(REPRODUCED if holds else NUMBER)


def quantities(**parts):
    return Quantities(id="q", title=TEXT, **parts)


def found(rows, **parts):
    return [(each.id, each.kind, each.subject, each.values, each.right)
            for each in contradictions(rows, [quantities(**parts)])]


def test_of_a_quantity_every_pair_that_excludes_each_other_is_told_with_what_holds():
    named = {"speed": NamedQuantity(name=TEXT, claims=["S1-003", "S1-001", "S1-002", "S1-009"])}
    rows = [Row("S1-001", "100"), Row("S1-002", "200", holds=False), Row("S1-003", "104")]
    assert found(rows, quantities=named) == [
        ("S1-001~S1-002", VALUES, "speed", ("100", "200"), ("S1-001",)),
        ("S1-002~S1-003", VALUES, "speed", ("200", "104"), ("S1-003",))]


@pytest.mark.parametrize(("one", "other", "alike"), [
    (("100", None), ("200", None), True), (("100", "w"), ("200", "w"), True),
    (("100", "w"), ("200", None), False), (("100 W", None), ("200", None), False)])
def test_numbers_are_held_beside_numbers_of_one_unit_and_words_beside_words(one, other, alike):
    rows = [Row(f"S1-00{at}", printed, words=words)
            for at, (printed, words) in enumerate((one, other), 1)]
    named = {"speed": NamedQuantity(name=TEXT, claims=["S1-001", "S1-002"])}
    assert bool(found(rows, quantities=named)) is alike


def test_a_law_is_asked_wherever_all_its_letters_are_numbers_that_are_judged():
    """Once for each set of claims that it names; one of words or unknown stops no other."""
    twice = law("equal").model_copy(update={"of": [
        {"a": "S1-001", "b": "S1-009"}, {"a": "S1-001", "b": "S1-004"},
        {"a": "S1-001", "b": "S1-002"}, {"a": "S1-003/high", "b": "S1-002"}]})
    rows = [Row("S1-001", "100"), Row("S1-002", "20"), Row("S1-003", ["10", "40"]),
            Row("S1-004", "9", words="w")]
    assert found(rows, laws={"double": twice}) == [
        ("S1-001~S1-002", NUMBERS, "double", ("100", "20"), ("S1-001", "S1-002"))]


def test_a_law_that_has_no_value_is_one_sentence_with_its_file():
    bad = NumericLaw(words=TEXT, left="a", holds="equal",
                     right=["divide", 1, ["subtract", "b", "b"]],
                     of=[{"a": "S1-001", "b": "S1-002"}])
    with pytest.raises(Exception, match=r"params/quantities/q\.yml: none: .*zero"):
        found([Row("S1-001", "1"), Row("S1-002", "2")], laws={"none": bad})


def setting(name, value, printed=None, claim="S1-001", program="vLLM", **given):
    return Row(claim, printed, setting=EngineSetting(program=program, name=name, value=value),
               **given)


@pytest.mark.parametrize(("one", "other", "differ"), [
    (("x", 80, "80"), ("--x", 80, "80"), False), (("x", 80, "80"), ("--x", 82, "82"), True),
    (("x", "a", None), ("x", "b", None), True), (("x", "a", None), ("x", "a", None), False),
    # where either prints no number what is given decides
    (("x", 80, "80"), ("x", "auto", None), True), (("x", 80, "80"), ("x", 80, None), False),
    # numbers within their digits are one
    (("x", 100, "100"), ("x", 101, "101"), False), (("x", 80, "80"), ("y", 90, "90"), False)])
def test_a_setting_of_one_launch_or_of_one_section_is_set_once(one, other, differ):
    launch = {"go": Launch(name=TEXT, claims=["S1-001", "S1-002", "S1-009"])}
    made = [setting(*each, claim=f"S1-00{at}") for at, each in enumerate((one, other), 1)]
    told = found(made, launches=launch)
    assert [(each[0], each[1], each[2]) for each in told] == [
        ("S1-001~S1-002", SETTING, "go")] * differ
    assert found(made) == []  # of no deployment
    placed = [setting(*each, claim=f"S1-00{at}", deployment="plan")
              for at, each in enumerate((one, other), 1)]
    assert [each[:3] for each in found(placed)] == [("S1-001~S1-002", SETTING, "plan")] * differ


@pytest.mark.parametrize("apart", [{"deployment": "other"}, {"section": "2"}, {"document": "s2"},
                                   {"program": "SGLang"}])
def test_another_deployment_section_document_or_program_may_set_it_otherwise(apart):
    rows = [setting("x", 80, "80", deployment="plan"),
            setting("x", 90, "90", "S1-002", **{"deployment": "plan"} | apart)]
    assert found(rows) == []


@pytest.mark.parametrize("name", ["--enforce-eager", "enforce_eager", " --Enforce-Eager"])
def test_a_setting_is_spelled_in_one_way(name):
    assert spelled(name) == "enforce_eager"


def test_claims_that_are_named_together_and_what_stands_beside_some():
    file = quantities(
        quantities={"q": NamedQuantity(name=TEXT, claims=["S1-001/low", "S1-002"])},
        laws={"l": law("equal").model_copy(update={"of": [
            {"a": "S1-003", "b": "S1-004"}, {"a": "S1-005", "b": "S1-006/high"}]})},
        launches={"g": Launch(name=TEXT, claims=["S1-007", "S1-008"])})
    assert list(groups([file])) == [
        (("quantities", "q", "claims"), ["S1-001", "S1-002"]),
        (("laws", "l", "of", 0), ["S1-003", "S1-004"]),
        (("laws", "l", "of", 1), ["S1-005", "S1-006"]),
        (("launches", "g", "claims"), ["S1-007", "S1-008"])]
    assert beside({"S1-006", "S1-099"}, [file]) == {"S1-005", "S1-006", "S1-099"}
    assert beside(set(), [file]) == set()
    assert [claim_of(name) for name in ("S1-001/low", "S1-001")] == ["S1-001"] * 2
