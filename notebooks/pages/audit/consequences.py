"""Which errors matter: by what becomes of who believes them, then by what hangs on them."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence

import catalogue
from calc.auditing.cases import OF_RUNNING
from calc.auditing.judging import Audited
from calc.auditing.truths import CHANGED
from catalogue.messages import Pair, messages
from catalogue.reading.values import CONSEQUENCES, causes
from notebooks.pages.catalogue.tables.deployments import page_of

say = messages("pages/audit/consequences")

STOPS, DECISION, NUMBER = CONSEQUENCES
WORDS: dict[str, Pair] = {STOPS: say("does-not-run"), DECISION: say("wrong-decision"),
                          NUMBER: say("wrong-number")}
RESIDUE = "number-without-derivation"  # of claims that have nothing else in common
MEMORY = "B"  # unit of what decides whether a model loads
PROMISED, RECOMMENDED, PLANNED, OTHER, LISTED, SUPPOSED = range(6)


def weights(rows: Sequence[Audited]) -> list[tuple[str, list[Audited]]]:
    """Causes with their claims, both with what weighs most first.

    A cause weighs by its consequence, then by the claim that most hangs on; what is left over when
    all claims with a reason are explained comes last.
    """
    found: dict[str, list[Audited]] = defaultdict(list)
    for row in rows:
        if row.cause is not None:
            found[row.cause].append(row)
    named = causes()
    stops = {name: named[name]["consequence"] == STOPS for name in found}
    return [(name, sorted(found[name], key=lambda row: _shown_first(row, stops[name])))
            for name in sorted(found, key=lambda name: (
                name == RESIDUE, CONSEQUENCES.index(named[name]["consequence"]),
                min(map(bearing, found[name]))))]


def _shown_first(row: Audited, stops: bool) -> tuple[int, float]:
    """The order of claims of one cause; of one that stops a model from loading memory leads."""
    rank, error = bearing(row)
    if stops and rank < SUPPOSED and row.case.printed and row.case.printed.unit == MEMORY:
        return -1, error
    return rank, error


def bearing(row: Audited) -> tuple[int, float]:
    """What hangs on a claim, the most first: what it is of, then how far off it is.

    What a document promises of its recommendation, other numbers of the recommendation, those of
    other deployments, what is of none, entries that it restates, and at last what it only supposes,
    sets or watches.
    """
    case, promised, recommended, supposed = row.case, *_of_document(row.case.listed.document)
    of = {page_of(name.partition(CHANGED)[0]) for name in (
        case.claim.deployment, case.truth.scenario if case.truth else None) if name}
    if row.id in promised:
        rank = PROMISED
    elif of & supposed or case.claim.alert is not None or case.claim.setting is not None:
        rank = SUPPOSED
    elif of and case.truth is not None and ":" in case.truth.where and (
            case.truth.unit in OF_RUNNING):
        rank = RECOMMENDED if of & recommended else PLANNED
    else:
        rank = LISTED if case.truth is not None and case.truth.listed else OTHER
    return rank, -(off_by(row) or 1.0)


@functools.cache
def _of_document(document: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Claims that it promises, pages of what it recommends and of what it supposes."""
    entry = catalogue.load("documents", document)
    return (frozenset(name for each in entry.recommended for name in each.claims),
            frozenset(page_of(each.scenario) for each in entry.recommended),
            frozenset(entry.supposed))


def off_by(row: Audited) -> float | None:
    """By what factor a claim is too high or too low; None where there is none."""
    return max(row.off, 1 / row.off) if row.off and row.off > 0 else None
