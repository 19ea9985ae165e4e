"""Verdicts on claims of small files: each follows from numbers and changes with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.auditing.audit import audit
from calc.auditing.claim_files import listed_in
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
    says,
)
from calc.commands.main import main
from calc.uncertainty.amount import Amount
from catalogue.reading.printed import read

HEAD = """title: {en: t, zh: t}
document: s1
defaults: {source: s1, kind: documented}
claims:
"""
WHAT = "what: {en: w, zh: w}, section: '1', line: 1"
OPENED = "missing: {en: m, zh: m}"
EIGHTH = "formula: [divide, whole, parts], inputs: {whole: 8 GB, parts: 4}"
H20 = "sourced: {whole: devices/nvidia-h20/memory_capacity}"
LAYERED = "[multiply, layers, byte]"
LINK = "right: [multiply, 2, x], sourced: {x: links/nvlink-h20/device_bandwidth}"
ROWS = ("sourced: {low: measurements/s2-910b1-awq/tpot/concurrency=1/min, "
        "high: measurements/s2-910b1-awq/tpot/concurrency=1/max}, right: low, most: high")
AT = "truth: 'measurements/s2-910b1-awq/tpot"
FLAG = "setting: {program: vLLM, engine: vllm, name: "
SIDES = "inputs: {a: 2, b: 1}"
KNOWN = "known: {value: 200 W, range: [90 W, 300 W], source: arithmetic, kind: vendor}"
POSITIVE = st.floats(1e-3, 1e6)
WIDE = Amount(100.0, 80.0, 130.0)

VERDICTS = [
    # arithmetic first: 8 GB / 4 is not 3 GB, whatever else holds
    (f"printed: 3 GB, {EIGHTH}", ARITHMETIC, ()),
    (f"printed: 2 GB, {EIGHTH}", REPRODUCED, ()),
    # half a last digit belongs to what is printed, and "about" is a twentieth
    ("printed: 100, formula: a, inputs: {a: 105}", REPRODUCED, ()),
    ("printed: 100, formula: a, inputs: {a: 106}", ARITHMETIC, ()),
    ("printed: 55, approximate: true, right: [multiply, a, 1], inputs: {a: 53.8}", REPRODUCED, ()),
    ("printed: 110, approximate: true, right: [multiply, a, 1], inputs: {a: 118}", NUMBER, ()),
    # the card shows 95.58 GiB: with it the same formula gives 25.7 GB
    (f"printed: 2 GB, {EIGHTH}, {H20}", INPUT, ()),
    (f"printed: 2 GB, {EIGHTH}, right: [multiply, whole, parts]", FORMULA, ()),
    (f"printed: 2 GB, {EIGHTH}, {H20}, right: [multiply, whole, parts]", BOTH, ()),
    (f"printed: 2 GB, {EIGHTH}, reconstructed: true, right: [multiply, whole, parts]", NUMBER, ()),
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
    (f"printed: 600 GB/s, {LINK}", SPECIFICATION, (WRONG,)),
    ("printed: 64 GB, truth: devices/ascend-910b2/memory_capacity",
     SPECIFICATION, (RIGHT, BINARY)),
    ("printed: 100 W, " + KNOWN, COMPATIBLE, ()),
    ("printed: 80 W, " + KNOWN, SPECIFICATION, (WRONG,)),
    # what cannot run does not hold, be its number right
    ("printed: 8, truth: 's1-plan-c:tensor_parallel'", REPRODUCED, ()),
    ("printed: 8, truth: 's1-plan-c:tensor_parallel', deployment: s1-plan-c", INFEASIBLE, ()),
    ("printed: 40 ms, truth: 's1-plan-c:ttft'", INFEASIBLE, ()),
    # a step as it is printed: twice the 16,000 of a replica
    ("claim: 's1-plan-d:output_throughput.2', formula: [multiply, rate, 2], inputs: {rate: 16000 "
     "token/s}, sourced: {rate: 's1-plan-d:output_throughput/replica'}", INPUT, (INFEASIBLE,)),
    ("printed: 85.6 ms, truth: 's2-910b1-awq:tpot'", REPRODUCED, ()),
    ("printed: 78 ms, truth: 's2-910b1-awq:tpot'", COMPATIBLE, ()),
    ("printed: 22 ms, truth: 's2-910b1-awq:tpot'", NUMBER, ()),
    ("printed: 900 ms, bound: at_most, truth: 's2-910b1-awq:tpot'", MET, ()),
    ("printed: 22 ms, bound: at_least, truth: 's2-910b1-awq:tpot'", MET, ()),
    ("printed: 22 ms, bound: at_most, truth: 's2-910b1-awq:tpot'", NUMBER, ()),
    (f"words: w, comparison: {{of: [divide, a, b], above: 1}}, {SIDES}", MET, ()),
    (f"words: w, comparison: {{of: [divide, a, b], below: 1}}, {SIDES}", NUMBER, ()),
    (f"printed: 32768, {FLAG}max_model_len, value: 32768}}", SETTING, ("accepted",)),
    (f"printed: 32768, {FLAG}max_model_len, value: 32768}}, deployment: s1-plan-c",
     SETTING, ("accepted", INFEASIBLE)),
    # releases that had it are older than the model
    (f"printed: 512, {FLAG}max_paddings, value: 512}}", SETTING, ("unknown",)),
    ("printed: 10 ms, alert: {of: 's2-910b1-awq:tpot', fires: above}", THRESHOLD, (ALWAYS,)),
    (f"printed: 3, {OPENED}", UNVERIFIABLE, ()),
    (f"printed: 3, {OPENED}, assumed: true", ASSUMPTION, ()),
    (f"words: AWQ, {OPENED}", UNVERIFIABLE, ()),
    ("printed: 94 GB, known: {value: 94 GB, source: arithmetic, kind: vendor}",
     SPECIFICATION, (RIGHT,)),
    (f"printed: 22.8 ms, {AT}/input_tokens=128,concurrency=1'", REPRODUCED, ()),
    # rows of the document itself, of a range at either end
    (f"printed: 24 ms, {AT}/min'", ARITHMETIC, ()),
    (f"printed: [22.8 ms, 29.7 ms], {ROWS}", REPRODUCED, ()),
    (f"printed: [25 ms, 29.7 ms], {ROWS}", ARITHMETIC, ()),
    (f"printed: [22.8 ms, 26 ms], {ROWS}", ARITHMETIC, ()),
]
PROBLEMS = [  # a claim -> what follows its file and line
    ("id: S1-002, line: 2, like: S1-009",
     "S1-002: like: 'S1-009' is no earlier claim, the nearest names are S1-001."),
    (f"id: S1-002, {WHAT}, printed: 2, truth: 's1-plan-c:tpott'",
     "S1-002: 'tpott' is no name of params/symbols.yml, the nearest names are tpot."),
    (f"id: S1-002, {WHAT}, printed: 2, truth: devices/nvidia-h20/name",
     "S1-002: 'devices/nvidia-h20/name' is no number of the catalogue."),
    (f"id: S1-002, {WHAT}, printed: 2, formula: [divide, a, b], inputs: {{a: 1, b: 0}}",
     "S1-002: division by zero."),
    (f"id: S1-002, {WHAT}, printed: 2, formula: [divide, a, b], inputs: {{a: 1 GB, b: 1 s}}",
     "S1-002: formula comes out in B/s, what is printed is in a plain number."),
    (f"id: S1-002, {WHAT}, printed: 2 ms, truth: devices/nvidia-h20/memory_capacity",
     "S1-002: the truth is in B, what is printed in s."),
    (f"id: S1-002, {WHAT}, printed: 2 ms, formula: a, inputs: {{a: 1 ms}}, sourced: {{a: "
     "devices/nvidia-h20/memory_capacity}", "S1-002: the input 'a' is in s, its source in B."),
    (f"id: S1-002, {WHAT}, words: w, comparison: {{of: a, above: 1}}, inputs: {{a: 1 GB}}",
     "S1-002: comparison comes out in B, what is printed is in a plain number."),
    (f"id: S1-002, {WHAT}, printed: 2, {AT}'",
     "S1-002: 'measurements/s2-910b1-awq/tpot' names 30 rows, expected one."),
    (f"id: S1-002, {WHAT}, printed: 2, truth: claims/S1-009",
     "S1-002: there is no claim 'S1-009', the nearest names are S1-003, S1-002, S1-001."),
    (f"id: S1-002, {WHAT}, printed: 2, truth: corrected/S1-002",
     "S1-002: 'S1-002' rests on itself."),
    ("id: S1-002, line: 2, claim: 's1-plan-c:output_throughput'",
     "S1-002: 's1-plan-c:output_throughput' names 3 claims, expected one."),
]


@pytest.fixture
def judged(tmp_path):
    """Audit claims of one file."""
    def run(*claims: str):
        path = tmp_path / "claims" / "mine.yml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEAD + "".join(f"  - {{{claim}}}\n" for claim in claims), encoding="utf-8")
        return audit(listed_in([path]))

    return run


@pytest.mark.parametrize(("claim", "verdict", "also"), VERDICTS)
def test_verdict_follows_from_its_numbers(judged, claim, verdict, also):
    answer = judged(f"id: S1-001, {WHAT}, {claim}")
    assert answer.problems == ()
    assert (answer.rows[0].judgement.verdict, answer.rows[0].judgement.also) == (verdict, also)


@pytest.mark.parametrize(("sourced", "verdict"), [
    # the formula with the sourced input is ours within 2%; an input that moves it by less is idle
    (100, INPUT), (102, INPUT), (104, BOTH), (51, FORMULA), (52, BOTH)])
def test_wrong_input_explains_a_number_within_two_percent(judged, sourced, verdict):
    """Printed 50 of an input of 50; ours is 100, the right formula on the document's inputs 60."""
    right = "[multiply, 2, w]" if verdict == FORMULA else "[add, w, z]"
    claim = (f"id: S1-002, {WHAT}, printed: 50, formula: a, inputs: {{a: 50, w: 50, z: 10}}, "
             f"sourced: {{a: claims/S1-001, z: claims/S1-003}}, right: {right}")
    others = [f"id: S1-00{at}, {WHAT}, printed: {number}.00, {OPENED}"
              for at, number in ((1, sourced), (3, 50))]
    answer = judged(others[0], claim, others[1])
    assert answer.problems == ()
    assert answer.rows[1].case.truth.three.value == 100
    assert answer.rows[1].judgement.verdict == verdict


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


@pytest.mark.parametrize(("value", "about", "equal"), [
    (210, True, True), (210.1, True, False), (189.9, True, False), (210, False, False)])
def test_about_is_a_twentieth_of_what_is_printed(value, about, equal):
    assert says(read("200"), value, about) is equal


@pytest.mark.parametrize(("printed", "bound", "reached"), [
    ("80", None, True), ("79", None, False), ("130", None, True), ("131", None, False),
    ("80", "at_most", True), ("79", "at_most", False),
    ("130", "at_least", True), ("131", "at_least", False),
    # the middle of a range lies within; of a limit its own end does
    (["70", "90"], None, True), (["60", "90"], None, False), (["70", "79"], "at_most", False),
    (["130", "140"], "at_least", True), (["131", "140"], "at_least", False)])
def test_number_inside_our_interval_is_reached(printed, bound, reached):
    assert reaches(read(printed), WIDE, bound) is reached


@pytest.mark.parametrize(("low", "high", "verdict"), [
    ("40.0 W", "90.0 W", REPRODUCED), ("40.8 W", "91.8 W", REPRODUCED),
    ("40.9 W", "90.0 W", COMPATIBLE), ("40.0 W", "91.9 W", COMPATIBLE),
    ("39.1 W", "90.0 W", COMPATIBLE)])
def test_range_is_reproduced_where_both_ends_agree(judged, low, high, verdict):
    """Within two hundredths of ours or half a digit."""
    ends = f"id: S1-002, {WHAT}, printed: [{low}, {high}], {OPENED}"
    claim = f"id: S1-001, {WHAT}, printed: [40 W, 90 W], truth: claims/S1-002"
    assert judged(claim, ends).rows[0].judgement.verdict == verdict


@pytest.mark.parametrize(("unit", "size"), [("kB", 1024), ("MB", 1024**2), ("TB", 1024**4)])
@pytest.mark.parametrize(("count", "also"), [(64.5, (RIGHT, BINARY)), (64.51, (WRONG,))])
def test_memory_in_powers_of_1024(judged, unit, size, count, also):
    claim = (f"printed: 64 {unit}, known: {{value: {count * size:.0f} B, source: arithmetic, "
             "kind: vendor}")
    assert judged(f"id: S1-001, {WHAT}, {claim}").rows[0].judgement.also == also


@given(POSITIVE, POSITIVE, POSITIVE)
def test_looser_bound_is_met_too(limit, more, value):
    """If it is printed with as many digits, since fewer leave more room."""
    ours = Amount(value, value * 0.8, value * 1.3)
    for bound, order in (("at_most", 1), ("at_least", -1)):
        met = [meets(read(f"{each:.5e}"), ours, bound) for each in (limit, limit + more)][::order]
        assert met[1] >= met[0]


@given(POSITIVE, POSITIVE, st.sampled_from([None, "at_most", "at_least"]))
def test_what_is_met_is_reached(printed, value, bound):
    ours, written = Amount(value, value * 0.8, value * 1.3), read(f"{printed:.3f}")
    assert reaches(written, ours, bound) >= meets(written, ours, bound)


@given(st.integers(5, 95), st.integers(5, 95), st.floats(0.01, 0.99), st.floats(1.0, 1.5))
def test_share_and_percentage_are_judged_alike(one, other, value, wide):
    """As ranges: 0.8-0.9 is 80-90 %."""
    low, high = sorted((one, other + 5))
    ours = Amount(value, value / wide, value * wide)
    percent, share = read([f"{low} %", f"{high} %"]), read([low / 100, high / 100])
    assert meets(percent, ours, None) == meets(share, ours, None)
    assert reaches(percent, ours, None) == reaches(share, ours, None)


@pytest.mark.parametrize(("verdict", "also", "standing"), [
    (REPRODUCED, (), HOLDS), (MET, (), HOLDS), (COMPATIBLE, (), HOLDS),
    (SPECIFICATION, (RIGHT, BINARY), HOLDS), (SPECIFICATION, (WRONG,), FAILS),
    (COMPATIBLE, (INFEASIBLE,), FAILS), (ARITHMETIC, (), FAILS), (BOTH, (), FAILS),
    (INFEASIBLE, (), FAILS), (ASSUMPTION, (), OPEN), (UNVERIFIABLE, (INFEASIBLE,), OPEN),
    (SETTING, ("no-catalogue",), OPEN), (SETTING, ("open", INFEASIBLE), FAILS),
    (SETTING, ("accepted",), HOLDS), (SETTING, ("works",), HOLDS), (SETTING, ("unknown",), FAILS),
    (SETTING, ("worse",), FAILS), (THRESHOLD, ("sound",), HOLDS),
    (THRESHOLD, ("may-fire",), FAILS), (THRESHOLD, ("too-late",), FAILS)])
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


def test_check_command_refuses_a_claim_that_cannot_be_judged(capsys, tmp_path):
    path = tmp_path / "claims" / "mine.yml"
    path.parent.mkdir()
    claim, message = PROBLEMS[1]
    path.write_text(HEAD + f"  - {{{claim}}}\n", encoding="utf-8")
    assert main(["check", str(path)]) == 2
    [said] = capsys.readouterr().err.splitlines()
    assert said.endswith(f"mine.yml:5: {message}")
    assert main(["check", str(catalogue.ROOT / "claims" / "s3.yml")]) == 0
