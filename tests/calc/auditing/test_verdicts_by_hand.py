"""Verdicts at their limits: which digits, shares and intervals still hold a number, and what is
wrong with one that they do not."""

from __future__ import annotations

from types import SimpleNamespace as Made

import pytest

from calc.auditing import judging
from calc.auditing.cases import Case
from calc.auditing.claim_files import Listed
from calc.auditing.judging import (
    ARITHMETIC,
    ASSUMPTION,
    BINARY,
    BOTH,
    COMPATIBLE,
    FAILS,
    FORMULA,
    HOLDS,
    INFEASIBLE,
    INPUT,
    MET,
    NUMBER,
    OPEN,
    REPRODUCED,
    RIGHT,
    SETTING,
    SPECIFICATION,
    THRESHOLD,
    UNVERIFIABLE,
    WRONG,
    Judgement,
    judge,
    meets,
    reaches,
    says,
)
from calc.auditing.settings import Ruling
from calc.auditing.truths import Truth
from calc.uncertainty.amount import Amount
from catalogue.reading.printed import read

WIDE = Amount(100.0, 80.0, 130.0)


def truth(value=100.0, low=None, high=None, unit="1", **others):
    return Truth(Amount(value, low or value, high or value), unit, "S1-001", **others)


def case(printed="100", **given):
    text = {"en": "w", "zh": "w"}
    return Case(Listed(Made(id="S1-001"), "s1", "here:1", {}), text, "1",
                None if printed is None else read(printed), **given)


@pytest.mark.parametrize(("printed", "bound", "value", "met"), [
    # 100 has two digits that count, and stands for 95 to 105
    ("100", None, 105, True), ("100", None, 105.1, False), ("100", None, 95, True),
    ("100", None, 94.9, False),
    ("100", "at_most", 105, True), ("100", "at_most", 105.1, False), ("100", "at_most", 0, True),
    ("100", "at_least", 95, True), ("100", "at_least", 94.9, False), ("100", "at_least", 999, True),
    # of a range a limit is its farther end, by the digits of that end
    (["40", "900"], "at_most", 905, True), (["40", "900"], "at_most", 905.1, False),
    (["40", "900"], "at_least", 39.5, True), (["40", "900"], "at_least", 39.4, False)])
def test_a_number_is_met_within_half_of_its_last_digit(printed, bound, value, met):
    ours = Amount(value, value / 9, value * 9)
    assert meets(read(printed), ours, bound) is met


@pytest.mark.parametrize(("value", "about", "said"), [
    (210, True, True), (210.1, True, False), (190, True, True), (189.9, True, False),
    (210, False, False), (205, False, True)])
def test_about_is_a_twentieth_of_what_is_printed(value, about, said):
    assert says(read("200"), value, about) is said
    assert meets(read("200"), Amount.exactly(value), None, about) is said


@pytest.mark.parametrize(("printed", "bound", "reached"), [
    ("80", None, True), ("79", None, False), ("130", None, True), ("131", None, False),
    ("80", "at_most", True), ("79", "at_most", False), ("999", "at_most", True),
    ("130", "at_least", True), ("131", "at_least", False), ("9", "at_least", True),
    # of a range the middle lies within; of a limit its own end does
    (["70", "90"], None, True), (["60", "90"], None, False),
    (["70", "80"], "at_most", True), (["70", "79"], "at_most", False),
    (["130", "140"], "at_least", True), (["131", "140"], "at_least", False)])
def test_what_lies_inside_of_our_interval_is_reached(printed, bound, reached):
    assert reaches(read(printed), WIDE, bound) is reached


@pytest.mark.parametrize(("printed", "low", "high", "narrow"), [
    ("100", 1, 9e9, True), (["40", "90"], 40, 90, True),
    (["40", "90"], 40.5, 90, True), (["40", "90"], 39.5, 90.5, True),
    # two hundredths of ours, where they are more than half a digit
    (["40", "90"], 40.8, 90, True), (["40", "90"], 40.9, 90, False),
    (["40", "90"], 40, 91.8, True), (["40", "90"], 40, 91.9, False),
    (["40", "90"], 39.2, 90, False), (["40", "90"], 40, 88.2, False),
    # half a digit, where that is more
    (["4", "9"], 4.5, 9, True), (["4", "9"], 3.4, 9, False), (["4", "9"], 4, 8.5, True),
    (["4", "90"], 4.5, 91.8, True), (["4.0", "9"], 4.5, 9, False), (["4", "9.0"], 4, 8.5, False)])
def test_a_range_says_as_much_as_ours_where_both_its_ends_do(printed, low, high, narrow):
    assert judging._as_narrow(read(printed), Amount(low, low, high)) is narrow


@pytest.mark.parametrize(("unit", "bytes_"), [("kB", 1024), ("MB", 1024**2), ("GB", 1024**3),
                                              ("TB", 1024**4)])
def test_memory_is_sold_in_powers_of_1024(unit, bytes_):
    printed = read(f"64 {unit}")
    for count, binary in ((64, True), (64.5, True), (64.51, False), (63.51, True), (63.49, False)):
        assert judging._in_binary(printed, Amount.exactly(count * bytes_)) is binary
    assert not judging._in_binary(read(f"64 {unit}/s"), Amount.exactly(64 * bytes_))
    assert judging._in_binary(read([f"32 {unit}", f"64 {unit}"]), Amount.exactly(48 * bytes_))


@pytest.mark.parametrize(("found", "ours", "printed", "same"), [
    (None, Amount.exactly(100), "100", False),
    (105, Amount.exactly(100), "100", True), (105.1, Amount.exactly(100), "100", False),
    (95, Amount.exactly(100), "100", True), (94.9, Amount.exactly(100), "100", False),
    # of a number ten times ours, as many digits of ours: 0.5
    (10.5, Amount.exactly(10), "100", True), (10.51, Amount.exactly(10), "100", False),
    # two hundredths of ours, where these are more
    (1020, Amount.exactly(1000), "100", True), (1020.1, Amount.exactly(1000), "100", False),
    (0.5, Amount.exactly(0), "0", True), (0.51, Amount.exactly(0), "0", False),
    (-10.5, Amount.exactly(-10), "-100", True), (-10.51, Amount.exactly(-10), "-100", False),
    # the wider digits of a range, over its farther end
    (10.5, Amount.exactly(10), ["3", "100"], True),
    (10.51, Amount.exactly(10), ["3", "100"], False),
    (80, WIDE, "9.00", True), (79.9, WIDE, "9.00", False),
    (130, WIDE, "9.00", True), (130.1, WIDE, "9.00", False)])
def test_a_computed_number_is_ours_within_two_per_cent_its_digits_or_our_interval(
        found, ours, printed, same):
    assert judging._same(found, ours, read(printed)) is same


MOVED = {"a": (1.0, 2.0)}


@pytest.mark.parametrize(("given", "wrong"), [
    ({}, NUMBER), ({"fits": True}, NUMBER), ({"fits": False}, INFEASIBLE),
    ({"own": 50.0, "resourced": 100.0}, INPUT), ({"own": 50.0, "resourced": 104.0}, INPUT),
    ({"own": 50.0, "resourced": 51.1}, BOTH), ({"own": 50.0}, BOTH),
    ({"own": 50.0, "righted": 100.0}, FORMULA), ({"own": 50.0, "righted": 60.0}, BOTH),
    # sources that change what goes in by two hundredths of the result change nothing
    ({"own": 50.0, "resourced": 51.0}, FORMULA), ({"own": 50.0, "resourced": 49.0}, FORMULA),
    ({"own": 50.0, "resourced": 51.0, "righted": 60.0}, BOTH),
    ({"own": 50.0, "resourced": 51.1, "righted": 100.0}, FORMULA),
    # nor by half of what is wrong, be the result as near as our own
    ({"own": 99.0, "resourced": 99.5}, FORMULA), ({"own": 99.0, "resourced": 99.6}, INPUT),
    # where the document prints no formula none is wrong, unless inputs are
    ({"own": 50.0, "reconstructed": True}, NUMBER),
    ({"own": 50.0, "reconstructed": True, "righted": 100.0}, NUMBER),
    ({"own": 50.0, "reconstructed": True, "moved": MOVED}, BOTH),
    ({"own": 50.0, "reconstructed": True, "resourced": 100.0}, INPUT)])
def test_what_is_wrong_with_a_number(given, wrong):
    made = case(**given)
    assert judging._explained(made, made.printed, truth()) == wrong


LISTED = {"listed": True, "sources": ("vendor",)}


@pytest.mark.parametrize(("given", "verdict", "also"), [
    ({"own": 106.0}, ARITHMETIC, ()), ({"own": 105.0}, REPRODUCED, ()),
    ({"own": 104.0, "approximate": True}, REPRODUCED, ()),
    ({"own": 105.1, "approximate": True, "truth": truth(100.0)}, ARITHMETIC, ()),
    ({"own": 106.0, "truth": truth()}, ARITHMETIC, ()),
    ({}, UNVERIFIABLE, ()), ({"assumed": True}, ASSUMPTION, ()),
    ({"own": 100.0, "missing": {"en": "m"}}, UNVERIFIABLE, ()),
    ({"own": 100.0, "missing": {"en": "m"}, "assumed": True}, ASSUMPTION, ()),
    ({"printed": None, "truth": truth()}, UNVERIFIABLE, ()),
    # what only the document itself says is no source
    ({"truth": truth(listed=True, sources=("s1",))}, UNVERIFIABLE, ()),
    ({"truth": truth(listed=True, sources=("s1", "s2"))}, SPECIFICATION, (RIGHT,)),
    ({"truth": truth(sources=("s1",))}, REPRODUCED, ()),
    ({"truth": truth(**LISTED)}, SPECIFICATION, (RIGHT,)),
    ({"truth": truth(200.0, **LISTED)}, SPECIFICATION, (WRONG,)),
    ({"truth": truth(200.0, 90.0, 300.0, **LISTED)}, COMPATIBLE, ()),
    ({"printed": "64 GB", "truth": truth(64 * 2**30, unit="B", **LISTED)},
     SPECIFICATION, (RIGHT, BINARY)),
    ({"printed": "64 GB", "truth": truth(64 * 2**30, unit="B")}, NUMBER, ()),
    # one with a formula is no mere entry
    ({"own": 100.0, "truth": truth(**LISTED)}, REPRODUCED, ()),
    ({"formula": Made(step=None), "truth": truth(200.0, **LISTED)}, NUMBER, ()),
    ({"own": 100.0, "truth": truth(200.0)}, BOTH, ()),
    ({"truth": truth(104.0)}, REPRODUCED, ()), ({"truth": truth(106.0)}, NUMBER, ()),
    ({"truth": truth(106.0, 90.0, 120.0)}, COMPATIBLE, ()),
    ({"truth": truth(104.0), "bound": "at_most"}, MET, ()),
    ({"truth": truth(120.0, 90.0, 140.0), "bound": "at_most"}, COMPATIBLE, ()),
    ({"truth": truth(120.0), "bound": "at_most"}, NUMBER, ()),
    ({"truth": truth(104.0, **LISTED), "bound": "at_most"}, MET, ()),
    ({"printed": ["40", "90"], "truth": truth(60.0, 40.0, 90.0)}, REPRODUCED, ()),
    ({"printed": ["40", "90"], "truth": truth(60.0)}, COMPATIBLE, ()),
    # of a deployment that cannot exist
    ({"truth": truth(104.0), "fits": False}, INFEASIBLE, ()),
    ({"truth": truth(104.0), "fits": False, "bound": "at_most"}, INFEASIBLE, ()),
    ({"truth": truth(106.0, 90.0, 120.0), "fits": False}, INFEASIBLE, ()),
    ({"truth": truth(200.0), "fits": False}, INFEASIBLE, ()),
    ({"own": 100.0, "truth": truth(200.0), "fits": False}, BOTH, (INFEASIBLE,)),
    ({"own": 120.0, "fits": False}, ARITHMETIC, (INFEASIBLE,)),
    ({"fits": False}, UNVERIFIABLE, (INFEASIBLE,)),
    ({"fits": False, "assumed": True}, ASSUMPTION, ()),
    ({"truth": truth(**LISTED), "fits": False}, SPECIFICATION, (RIGHT, INFEASIBLE)),
    ({"truth": truth(200.0, **LISTED), "fits": False}, SPECIFICATION, (WRONG, INFEASIBLE))])
def test_the_first_verdict_that_holds(given, verdict, also):
    found = judge(case(**given))
    assert (found.verdict, found.also) == (verdict, also)


@pytest.mark.parametrize(("state", "beside", "fits", "also"), [
    ("accepted", (), None, ()), ("accepted", (), True, ()), ("accepted", (), False, (INFEASIBLE,)),
    ("accepted", ("--x",), True, (INFEASIBLE,)), ("unknown", ("--x",), True, ()),
    ("unknown", (), False, (INFEASIBLE,))])
def test_a_setting_stands_with_its_deployment_and_its_command(state, beside, fits, also):
    """One that stops every release by itself is not stopped by another besides."""
    found = judge(case(fits=fits, ruling=Ruling(state, beside=beside)))
    assert (found.verdict, found.also) == (SETTING, (state, *also))


@pytest.mark.parametrize(("verdict", "also", "standing"), [
    (REPRODUCED, (), HOLDS), (MET, (), HOLDS), (COMPATIBLE, (), HOLDS),
    (SPECIFICATION, (RIGHT,), HOLDS), (SPECIFICATION, (RIGHT, BINARY), HOLDS),
    (SPECIFICATION, (WRONG,), FAILS), (REPRODUCED, (INFEASIBLE,), FAILS),
    (ARITHMETIC, (), FAILS), (INPUT, (), FAILS), (FORMULA, (), FAILS), (BOTH, (), FAILS),
    (NUMBER, (), FAILS), (INFEASIBLE, (), FAILS), (ASSUMPTION, (), OPEN), (UNVERIFIABLE, (), OPEN),
    (UNVERIFIABLE, (INFEASIBLE,), OPEN), (SETTING, ("no-catalogue",), OPEN),
    (SETTING, ("open",), OPEN), (SETTING, ("no-catalogue", INFEASIBLE), FAILS),
    (SETTING, ("accepted",), HOLDS), (SETTING, ("ran",), HOLDS), (SETTING, ("works",), HOLDS),
    *((SETTING, (state,), FAILS) for state in ("unread", "stops", "worse", "misses", "wrong",
                                               "unknown", "choice", "type")),
    (THRESHOLD, ("sound",), HOLDS),
    *((THRESHOLD, (state,), FAILS) for state in ("always-fires", "may-fire", "too-late",
                                                 "never-fires"))])
def test_where_a_claim_stands(verdict, also, standing):
    assert Judgement(verdict, also).standing == standing
