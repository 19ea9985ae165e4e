"""One quantity has one truth, and one number that is held against it one verdict."""

from __future__ import annotations

from collections import defaultdict

import pytest

from calc.auditing.audit import audit
from calc.auditing.contradicting.quantity_files import entries

CLOSE = 1e-6  # relative
QUANTITIES = [(file.id, name) for file in entries() for name in file.quantities]
HELD_APART = {  # two contexts, with encoding or without
    ("s0", "pcie-5"), ("s0", "growth-of-communication"),
    ("between", "longest-context"), ("between", "decode-operations"),
    ("s0", "computing-efficiency"),
    ("s1", "weights-of-card-outside-experts")}


@pytest.fixture(scope="module")
def whole():
    return {row.id: row for row in audit().rows}


@pytest.fixture
def stated(whole):
    """The claims of a quantity, each with the end of its range that is meant."""
    def run(file, name):
        quantity = next(each for each in entries() if each.id == file).quantities[name]
        parts = [claim.partition("/") for claim in quantity.claims]
        return quantity, [(whole[claim], end) for claim, _, end in parts]

    return run


def ours(row, end):
    truth = row.case.truth
    return None if truth is None else (getattr(truth.three, end) if end else truth.three.value)


@pytest.mark.parametrize(("file", "name"), QUANTITIES)
def test_a_quantity_has_one_truth(stated, file, name):
    quantity, rows = stated(file, name)
    truths = [ours(row, end) for row, end in rows]
    one = None not in truths and max(truths) - min(truths) <= CLOSE * max(map(abs, truths))
    assert quantity.one_truth == ((file, name) not in HELD_APART)
    if quantity.one_truth:
        assert one or set(truths) == {None}, dict(zip([row.id for row, _ in rows], truths,
                                                      strict=True))


@pytest.mark.parametrize(("file", "name"), QUANTITIES)
def test_one_number_has_one_verdict(stated, file, name):
    """What goes wrong may differ where a formula stands beside one of them; whether it does, not,
    unless it is that formula's arithmetic."""
    quantity, rows = stated(file, name)
    alike = defaultdict(list)
    for row, _ in rows:
        printed = row.case.printed
        alike[printed.low, printed.high, printed.last, row.case.bound].append(row)
    for same in alike.values():
        if quantity.one_truth:
            assert len({row.judgement.standing for row in same}) == 1, [row.id for row in same]
        bare = [row for row in same if row.case.own is None]
        assert len({(row.judgement.verdict, row.case.fits) for row in bare}) <= 1, [
            (row.id, row.judgement.verdict) for row in bare]


def test_one_number_of_one_reference_stands_alike_wherever_it_is_written(whole):
    """80 to 90 % is 0.8 to 0.9, in a table as in a text."""
    alike = defaultdict(list)
    for row in whole.values():
        case = row.case
        if case.printed is None or case.truth is None or case.setting or case.alert or (
                case.own is not None or case.deployment is not None):
            continue
        key = (case.truth.where, case.truth.three.value, case.bound, case.approximate)
        alike[(*key, round(case.printed.low, 9), round(case.printed.high, 9))].append(row)
    for same in alike.values():
        assert len({row.judgement.standing for row in same}) == 1, [
            (row.id, row.judgement.verdict) for row in same]
    assert sum(len(same) > 1 for same in alike.values()) > 30
