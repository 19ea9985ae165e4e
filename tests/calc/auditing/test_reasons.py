"""What a sentence of a verdict holds: where a number comes from, and whose number it is."""

from __future__ import annotations

import pytest

from calc.auditing.audit import audit
from calc.auditing.judging import INFEASIBLE, meets
from calc.auditing.origins import found
from calc.auditing.reasons import why
from calc.auditing.truths import deployment

OWN = "By correct arithmetic on the document's own inputs"
FIGURE = "the figure is "
ROOM = "as if memory sufficed"


@pytest.fixture(scope="module")
def rows():
    return audit().rows


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
