"""Verdicts on claims of small files: each follows from numbers and changes with them."""

from __future__ import annotations

from functools import partial

import pytest
from _claims import WHAT, audit_claims
from hypothesis import given
from hypothesis import strategies as st

from calc.auditing.judging import (
    ALWAYS,
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
    meets,
    reaches,
)
from calc.uncertainty import Amount
from catalogue.reading.values import read

OPENED = "missing: {en: m, zh: m}"
EIGHTH = "formula: [divide, whole, parts], inputs: {whole: 8 GB, parts: 4}"
H20 = "sourced: {whole: devices/nvidia-h20/memory_capacity}"
LAYERED = "[multiply, layers, byte]"
LINK = "right: [multiply, 2, x], sourced: {x: links/nvlink-h20/device_bandwidth}"
ROWS = ("sourced: {low: measurements/s2-910b1-awq/tpot/concurrency=1/min, "
        "high: measurements/s2-910b1-awq/tpot/concurrency=1/max}, right: low, most: high")
AT = "truth: 'measurements/s2-910b1-awq/tpot"
SIDES = "inputs: {a: 2, b: 1}"
POSITIVE = st.floats(1e-3, 1e6)
WIDE = Amount(100.0, 80.0, 130.0)

VERDICTS = [
    # arithmetic first: 8 GB / 4 is not 3 GB, whatever else holds
    (f"printed: 3 GB, {EIGHTH}", ARITHMETIC, ()),
    (f"printed: 2 GB, {EIGHTH}", REPRODUCED, ()),
    # half a last digit belongs to what is printed, and "about" is a twentieth
    ("printed: 100, formula: a, inputs: {a: 105}", REPRODUCED, ()),
    ("printed: 100, approximate: true, right: [multiply, a, 1], inputs: {a: 106}", NUMBER, ()),
    # the card shows 95.58 GiB: with it the same formula gives 25.7 GB
    (f"printed: 2 GB, {EIGHTH}, {H20}", INPUT, ()),
    (f"printed: 2 GB, {EIGHTH}, right: [multiply, whole, parts]", FORMULA, ()),
    (f"printed: 2 GB, {EIGHTH}, {H20}, right: [multiply, whole, parts]", BOTH, ()),
    # the sourced inputs equal those of the document and do not lead to ours: the formula is wrong
    (f"printed: 61 B, formula: {LAYERED}, inputs: {{layers: 61, byte: 1 B}}, sourced: {{layers: "
     "models/deepseek-v3/num_hidden_layers}, truth: 's1-plan-c:kv_bytes_per_token'", FORMULA, ()),
    # half a second is a digit of what is printed, and forty times ours
    ("printed: 5 s, formula: a, inputs: {a: 5 s}, sourced: {a: 'measurements/s2-910b1-awq/e2e/"
     "input_tokens=128,concurrency=1'}, right: [divide, a, 1000]", BOTH, ()),
    ("printed: 148 TFLOPS, truth: devices/nvidia-h20/matrix_peak/fp16", SPECIFICATION, (RIGHT,)),
    ("printed: 296 TFLOPS, truth: devices/nvidia-h20/matrix_peak/fp16", SPECIFICATION, (WRONG,)),
    # both directions of an entry restate it
    (f"printed: 900 GB/s, {LINK}", SPECIFICATION, (RIGHT,)),
    ("printed: 64 GB, truth: devices/ascend-910b2/memory_capacity",
     SPECIFICATION, (RIGHT, BINARY)),
    ("printed: 100 W, known: {value: 200 W, range: [90 W, 300 W], source: arithmetic, "
     "kind: vendor}", COMPATIBLE, ()),
    # what cannot run does not hold, be its number right
    ("printed: 8, truth: 's1-plan-c:tensor_parallel'", REPRODUCED, ()),
    ("printed: 8, truth: 's1-plan-c:tensor_parallel', deployment: s1-plan-c", INFEASIBLE, ()),
    ("printed: 40 ms, truth: 's1-plan-c:ttft'", INFEASIBLE, ()),
    # a step as it is printed: twice the 16,000 of a replica
    ("claim: 's1-plan-d:output_throughput.2', formula: [multiply, rate, 2], inputs: {rate: 16000 "
     "token/s}, sourced: {rate: 's1-plan-d:output_throughput/replica'}", INPUT, (INFEASIBLE,)),
    ("printed: 79.7 ms, truth: 's2-910b1-awq:tpot'", REPRODUCED, ()),
    ("printed: 78 ms, truth: 's2-910b1-awq:tpot'", COMPATIBLE, ()),
    ("printed: 22 ms, truth: 's2-910b1-awq:tpot'", NUMBER, ()),
    ("printed: 900 ms, bound: at_most, truth: 's2-910b1-awq:tpot'", MET, ()),
    ("printed: 22 ms, bound: at_most, truth: 's2-910b1-awq:tpot'", NUMBER, ()),
    (f"words: w, comparison: {{of: [divide, a, b], above: 1}}, {SIDES}", MET, ()),
    (f"words: w, comparison: {{of: [divide, a, b], below: 1}}, {SIDES}", NUMBER, ()),
    ("printed: 32768, setting: {program: vLLM, engine: vllm, name: max_model_len, value: 32768}, "
     "deployment: s1-plan-c", SETTING, ("accepted", INFEASIBLE)),
    ("printed: 10 ms, alert: {of: 's2-910b1-awq:tpot', fires: above}", THRESHOLD, (ALWAYS,)),
    (f"printed: 3, {OPENED}", UNVERIFIABLE, ()),
    (f"printed: 3, {OPENED}, assumed: true", ASSUMPTION, ()),
    (f"printed: 22.8 ms, {AT}/input_tokens=128,concurrency=1'", REPRODUCED, ()),
    # rows of the document itself, of a range at either end
    (f"printed: 24 ms, {AT}/min'", ARITHMETIC, ()),
    (f"printed: [22.8 ms, 29.7 ms], {ROWS}", REPRODUCED, ()),
    (f"printed: [22.8 ms, 26 ms], {ROWS}", ARITHMETIC, ()),
]
PROBLEMS = [  # a claim -> what follows its file and line
    ("id: S1-002, line: 2, like: S1-009",
     "S1-002: like: 'S1-009' is no earlier claim, the nearest names are S1-001."),
    (f"id: S1-002, {WHAT}, printed: 2, truth: 's1-plan-c:tpott'",
     "S1-002: 'tpott' is no name of params/symbols.yml, the nearest names are tpot."),
    (f"id: S1-002, {WHAT}, printed: 2, formula: [divide, a, b], inputs: {{a: 1, b: 0}}",
     "S1-002: division by zero."),
    (f"id: S1-002, {WHAT}, printed: 2, formula: [divide, a, b], inputs: {{a: 1 GB, b: 1 s}}",
     "S1-002: formula comes out in B/s, what is printed is in a plain number."),
    (f"id: S1-002, {WHAT}, printed: 2 ms, truth: devices/nvidia-h20/memory_capacity",
     "S1-002: the truth is in B, what is printed in s."),
    (f"id: S1-002, {WHAT}, printed: 2 ms, formula: a, inputs: {{a: 1 ms}}, sourced: {{a: "
     "devices/nvidia-h20/memory_capacity}", "S1-002: the input 'a' is in s, its source in B."),
    (f"id: S1-002, {WHAT}, printed: 2, {AT}'",
     "S1-002: 'measurements/s2-910b1-awq/tpot' names 30 rows, expected one."),
    (f"id: S1-002, {WHAT}, printed: 2, truth: corrected/S1-002",
     "S1-002: 'S1-002' rests on itself."),
    ("id: S1-002, line: 2, claim: 's1-plan-c:output_throughput'",
     "S1-002: 's1-plan-c:output_throughput' names 3 claims, expected one."),
]


@pytest.fixture
def judged(tmp_path):
    """Audit claims of one file."""
    return partial(audit_claims, tmp_path)


@pytest.mark.parametrize(("claim", "verdict", "also"), VERDICTS)
def test_verdict_follows_from_its_numbers(judged, claim, verdict, also):
    answer = judged(f"id: S1-001, {WHAT}, {claim}")
    assert answer.problems == ()
    assert (answer.rows[0].judgement.verdict, answer.rows[0].judgement.also) == (verdict, also)


def test_claims_refer_to_each_other(judged):
    """A repeated claim is judged again; an input that another claim prints is replaced by ours."""
    peak = "truth: devices/nvidia-h20/matrix_peak/fp16"
    rows = judged(f"id: S1-001, {WHAT}, printed: 296 TFLOPS, {peak}",
                  "id: S1-002, line: 2, like: S1-001, printed: 148 TFLOPS",
                  f"id: S1-003, {WHAT}, printed: 592 TFLOPS, formula: [multiply, 2, peak], "
                  "inputs: {peak: 296 TFLOPS}, sourced: {peak: corrected/S1-001}").rows
    assert [row.judgement.also for row in rows[:2]] == [(WRONG,), (RIGHT,)]
    assert rows[1].case.what == rows[0].case.what
    assert rows[2].judgement.verdict == INPUT
    assert rows[2].case.truth.three.value == 2 * rows[0].case.truth.three.value == 296e12


# --- how printed numbers are compared -------------------------------------------------------------


@pytest.mark.parametrize(("printed", "bound", "value", "met"), [
    # 100 has two digits that count, and stands for 95 to 105
    ("100", None, 105, True), ("100", None, 105.1, False), ("100", None, 94.9, False),
    ("100", "at_most", 105, True), ("100", "at_most", 105.1, False), ("100", "at_most", 0, True),
    ("100", "at_least", 95, True), ("100", "at_least", 94.9, False), ("100", "at_least", 9e9, True),
    # a limit of a range is its farther end, with the digits of that end
    (["40", "900"], "at_most", 905, True), (["40", "900"], "at_most", 905.1, False),
    (["40", "900"], "at_least", 39.5, True), (["40", "900"], "at_least", 39.4, False)])
def test_number_is_met_within_half_of_its_last_digit(printed, bound, value, met):
    assert meets(read(printed), Amount(value, value / 9, value * 9), bound) is met


@pytest.mark.parametrize(("printed", "bound", "reached"), [
    ("80", None, True), ("79", None, False), ("130", None, True), ("131", None, False),
    ("80", "at_most", True), ("79", "at_most", False),
    ("130", "at_least", True), ("131", "at_least", False),
    # the middle of a range lies within; of a limit its own end does
    (["70", "90"], None, True), (["60", "90"], None, False), (["70", "79"], "at_most", False),
    (["130", "140"], "at_least", True), (["131", "140"], "at_least", False)])
def test_number_inside_our_interval_is_reached(printed, bound, reached):
    assert reaches(read(printed), WIDE, bound) is reached


@given(POSITIVE, POSITIVE, POSITIVE)
def test_looser_bound_is_met_too(limit, more, value):
    """If it is printed with as many digits, since fewer leave more room."""
    ours = Amount(value, value * 0.8, value * 1.3)
    for bound, order in (("at_most", 1), ("at_least", -1)):
        met = [meets(read(f"{each:.5e}"), ours, bound) for each in (limit, limit + more)][::order]
        assert met[1] >= met[0]


@pytest.mark.parametrize(("verdict", "also", "standing"), [
    (REPRODUCED, (), HOLDS), (COMPATIBLE, (INFEASIBLE,), FAILS), (ARITHMETIC, (), FAILS),
    (SPECIFICATION, (RIGHT, BINARY), HOLDS), (SPECIFICATION, (WRONG,), FAILS),
    (UNVERIFIABLE, (INFEASIBLE,), OPEN), (SETTING, ("open",), OPEN),
    (SETTING, ("open", INFEASIBLE), FAILS), (SETTING, ("works",), HOLDS),
    (SETTING, ("unknown",), FAILS), (THRESHOLD, ("sound",), HOLDS),
    (THRESHOLD, ("too-late",), FAILS)])
def test_standing_of_a_verdict(verdict, also, standing):
    assert Judgement(verdict, also).standing == standing


# --- files of claims ------------------------------------------------------------------------------


@pytest.mark.parametrize(("claim", "message"), PROBLEMS)
def test_bad_claim_is_one_sentence_and_leaves_the_others(judged, claim, message):
    good = f"id: S1-001, {WHAT}, printed: 2 GB, {EIGHTH}"
    answer = judged(good, claim, good.replace("S1-001", "S1-003"))
    assert [row.id for row in answer.rows] == ["S1-001", "S1-003"]
    [problem] = answer.problems
    assert problem.partition("mine.yml:6: ")[2] == message
