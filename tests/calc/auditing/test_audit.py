"""The audit of the documents: verdicts on real claims, and laws that hold for all of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import pytest

import catalogue
from calc.answer.estimate import estimate
from calc.auditing.alarms import RUN, alarm
from calc.auditing.audit import audit
from calc.auditing.claims import entries
from calc.auditing.contradictions import NUMBERS, SETTING, VALUES, reach
from calc.auditing.costs import PLAN, RUNS
from calc.auditing.failures import FAILURES
from calc.auditing.judging import (
    BINARY,
    BOTH,
    FAILS,
    FORMULA,
    HOLDS,
    INPUT,
    LATE,
    MET,
    NEVER,
    OPEN,
    REPRODUCED,
    SOUND,
    SPECIFICATION,
    THRESHOLD,
    VERDICTS,
    WRONG,
    meets,
)
from calc.auditing.truths import deployment
from calc.searching.alternatives import alternatives

# verdict and what else holds, besides contradictions -> claims
CLAIMS = [
    ("arithmetic-error", "S0-135 S0-309 S0-351 S0-355 S0-407 S0-548 S2-C036 S3-C057"),
    ("arithmetic-error infeasible", "S0-030 S0-329"),
    ("assumption", "S0-159 S0-162"),
    ("compatible", "S0-069 S0-074"),
    ("infeasible", "S0-026 S0-303 S0-323 S0-332 S1-008 S1-098 S1-374"),
    ("met", "S0-042 S0-043 S0-156"),
    ("reproduced", "S0-027 S0-028 S2-C038"),
    ("setting accepted", "S0-066 S0-118"),
    ("setting accepted infeasible", "S0-439 S1-398"),
    ("setting no-catalogue", "S0-489"),
    ("setting open", "S1-312 S1-313"),
    ("setting stops", "S1-359 S1-361"),
    ("setting unknown", "S1-296 S1-333"),
    ("setting unread", "S1-315 S1-332"),
    ("setting works", "S1-280 S1-281"),
    ("setting worse", "S1-329"),
    ("specification right", "S0-004 S0-009 S0-057"),
    ("specification right binary-unit", "S0-001 S0-007"),
    ("specification wrong", "S0-002 S0-003 S0-025 S0-062 S0-078 S0-094 S1-043 S1-180"),
    ("threshold always-fires", "S0-490 S0-571 S0-577 S0-580 S0-583 S0-589"),
    ("threshold may-fire", "S0-557 S0-565 S0-610 S0-614 S0-615"),
    ("threshold never-fires", "S0-568 S0-584 S0-604 S0-612 S0-617 S0-674 S1-259 S1-389"),
    ("threshold sound", "S0-632 S0-668"),
    ("unverifiable", "S0-006 S0-012"),
    ("wrong-formula", "S0-123 S0-304 S0-349 S0-369 S0-371 S1-040"),
    ("wrong-formula infeasible", "S0-410 S1-097"),
    ("wrong-input", "S0-089 S0-095 S0-243 S0-244 S0-315 S0-381 S1-004 S1-085"),
    ("wrong-input infeasible", "S0-034 S0-037 S0-375 S1-065 S1-078 S1-102"),
    ("wrong-input-and-formula", "S0-307 S0-311 S0-367 S0-370 S0-553 S1-039"),
    ("wrong-input-and-formula infeasible", "S0-029 S0-377 S0-409 S0-414 S0-432 S1-046"),
    ("wrong-number", "S0-132 S0-137 S0-148 S0-151 S0-356 S0-364 S2-C050"),
]
MLA_TOKEN = 61 * (512 + 64) * 2  # bytes of the latent cache, 61 layers in 16 bits
HEAD_TOKEN = 61 * 128 * (192 + 128) * 2  # of keys and values of all 128 heads
ROUTED = 58 * 256 * 3 * 7168 * 2048
SHARE = (0.8598 + 0.7988) / 2  # of the 164 problems of HumanEval, solved by either format
CORRECTED = [  # claim -> correct value in SI units, worked out by hand
    ("S1-004", 102_625_181_696 / 2**30), ("S1-021", 131_072 * HEAD_TOKEN),
    ("S1-023", HEAD_TOKEN / MLA_TOKEN), ("S0-423", 32 * 1024 * MLA_TOKEN),
    ("S1-085", 148e12 / 2), ("S1-045", 900e9 / 2 * 0.8), ("S1-040", 7168 * 80),
    ("S0-374", 1.6e12 * 0.72), ("S0-243", 353.9e12 / 400), ("S1-037", 671_026_419_200 - ROUTED),
    ("S0-007", 64 * 2**30), ("S0-008", 1.6e12), ("S0-089", 2 * 196e9), ("S0-095", 2 * 25e9),
    ("S0-101", 2 * 50e9), ("S1-089", 0.05 / 61), ("S0-026", 8), ("S0-381", 0),
    ("S2-C050", (0.8598 - 0.7988) / (2 * SHARE * (1 - SHARE) / 164) ** 0.5)]
SEPARATE = {("s0", "pcie-5"), ("s0", "growth-of-communication"), ("between", "longest-context"),
            ("between", "decode-operations"), ("s0", "computing-efficiency"),
            ("s1", "weights-of-card-outside-experts")}  # two contexts, with encoding or without
FILES = entries()
CLOSE = 1e-6  # relative


@pytest.fixture(scope="module")
def audited():
    return audit()


@pytest.fixture(scope="module")
def rows(audited):
    return {row.id: row for row in audited.rows}


@pytest.mark.parametrize(("verdict", "claims"), CLAIMS)
def test_verdict_of_real_claims(rows, verdict, claims):
    for name in claims.split():
        judged = rows[name].judgement
        also = [each for each in judged.also if each != "contradicts"]
        assert " ".join([judged.verdict, *also]) == verdict, name
        assert (rows[name].cause is None) or judged.standing == FAILS, name


@pytest.mark.parametrize(("claim", "value"), CORRECTED)
def test_corrected_value_by_hand(rows, claim, value):
    assert rows[claim].case.truth.three.value == pytest.approx(value, rel=1e-9)


def test_each_claim_has_exactly_one_verdict(audited, rows):
    """Also every claim that a file of the ledger states by its number."""
    assert audited.problems == ()
    assert len(rows) == len(audited.rows) == sum(
        count.total() for count in audited.counts.values())
    stated = {number for path in (catalogue.ROOT / "claims").glob("*.yml")
              for number in re.findall(r"- *\{? *id: (S[0-3]-\w+)", path.read_text("utf-8"))}
    assert stated <= rows.keys()
    for row in audited.rows:
        assert row.judgement.verdict in VERDICTS, row.id
        assert row.judgement.standing in (HOLDS, FAILS, OPEN), row.id
    open_claims = sum(row.judgement.standing == OPEN for row in audited.rows)
    assert open_claims <= len(rows) / 4


def test_infeasible_deployment_fails_its_claims(audited):
    """An alert is judged by its simulation, also on a deployment that does not fit."""
    infeasible = [row for row in audited.rows
                  if row.case.fits is False and row.judgement.verdict != THRESHOLD]
    assert len(infeasible) > 100
    assert [row.id for row in infeasible if row.judgement.standing == HOLDS] == []


def test_verdict_follows_from_the_numbers(audited):
    """Reproduced and right numbers agree within a twentieth; a limit is met on its side; a wrong
    formula or input needs a formula that the document prints."""
    compared = [row for row in audited.rows if row.case.printed and row.case.truth]
    for row in compared:
        case, judged = row.case, row.judgement
        if judged.verdict == MET:
            assert case.bound is not None, row.id
            assert meets(case.printed, case.truth.three, case.bound, case.claim.approximate), row.id
        right = judged.verdict == SPECIFICATION and not {WRONG, BINARY} & set(judged.also)
        if not case.itself and case.own is None and (judged.verdict == REPRODUCED or right):
            value, printed = case.truth.three.value, case.printed
            near = abs(value - printed.value) <= max(0.05 * abs(printed.value), *printed.last)
            assert near or printed.low <= value <= printed.high, row.id
        if judged.verdict in (FORMULA, BOTH, INPUT):
            assert case.own is not None, row.id
            assert not meets(case.printed, case.truth.three, None, case.claim.approximate), row.id


# --- alerts ---------------------------------------------------------------------------------------


def test_alert_state_follows_from_its_simulation(audited):
    """Every alert runs on a deployment that fits; a state without a failure has a reason."""
    alerts = [row for row in audited.rows if row.judgement.verdict == THRESHOLD]
    assert len(alerts) > 80
    for row in alerts:
        made = alarm(row.case)
        assert row.judgement.also[0] == made.state, row.id
        assert made.fires or made.nearest or made.reason != RUN or made.state != SOUND, row.id
        assert (made.state in (SOUND, LATE)) <= bool(made.fires), row.id
        assert (made.state == NEVER) <= (not made.fires), row.id
        assert all(point.failure in FAILURES for point in made.fires), row.id
        assert made.watched is None or deployment(made.watched).fits, row.id
        assert (row.judgement.standing == HOLDS) == (made.state == SOUND), row.id
        if made.reason == RUN and made.state == SOUND:
            assert min(point.slower for point in made.fires) <= 64, row.id


# --- quantities and contradictions ----------------------------------------------------------------


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.id)
def test_quantity_has_one_reference_value(rows, file):
    """Claims of one quantity are compared with one value; equal numbers have equal verdicts."""
    for name, quantity in file.quantities.items():
        named = [(rows[claim], end) for claim, _, end in (
            each.partition("/") for each in quantity.claims)]
        assert len({row.case.printed.unit for row, _ in named}) == 1, name
        assert quantity.one_truth == ((file.id, name) not in SEPARATE)
        if not quantity.one_truth:
            continue
        values = [None if row.case.truth is None else getattr(row.case.truth.three, end or "value")
                  for row, end in named]
        if None in values:
            assert set(values) == {None}, name
        else:
            assert max(values) - min(values) <= CLOSE * max(map(abs, values)), name
        alike = defaultdict(set)
        for row, _ in named:
            printed = row.case.printed
            alike[printed.low, printed.high, printed.last, row.case.bound].add(
                row.judgement.standing)
        assert all(len(standings) == 1 for standings in alike.values()), name


def test_contradictions_exclude_each_other(audited, rows):
    """Pairs name each other; two values of one quantity have disjoint intervals."""
    pairs = [each for each in audited.contradictions if each.kind != NUMBERS]
    assert len(audited.contradictions) >= 90
    assert Counter(each.kind for each in audited.contradictions).keys() == {
        VALUES, NUMBERS, SETTING}
    assert len({each.id for each in audited.contradictions}) == len(audited.contradictions)
    ends = {claim.partition("/")[0] for file in FILES for quantity in file.quantities.values()
            for claim in quantity.claims if "/" in claim}
    for each in pairs:
        one, other = each.claims
        assert one < other
        assert other in rows[one].judgement.clashes
        assert one in rows[other].judgement.clashes
        assert all(rows[claim].judgement.standing == HOLDS for claim in each.right)
        if each.kind == VALUES and not ends & {one, other}:
            (low, high), (least, most) = (reach(rows[claim].case) for claim in each.claims)
            assert high < least or most < low, each.id


def test_corrected_plan_runs_and_is_best_on_its_cards():
    plan = catalogue.load_scenario(PLAN, overrides=list(RUNS))
    assert estimate(plan).fits
    best = alternatives(plan).official
    assert best is not None
    assert best.settings == {}
