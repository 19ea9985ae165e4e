"""Verdicts: each follows from numbers, and changes with them."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.answer.estimate import estimate
from calc.auditing import claim_files
from calc.auditing.audit import audit
from calc.auditing.claim_files import listed_in
from calc.auditing.costs import PLAN, RUNS
from calc.auditing.judging import (
    ALWAYS,
    ARITHMETIC,
    ASSUMPTION,
    BINARY,
    BOTH,
    COMPATIBLE,
    FORMULA,
    INFEASIBLE,
    INPUT,
    MET,
    NUMBER,
    REPRODUCED,
    RIGHT,
    SETTING,
    SPECIFICATION,
    THRESHOLD,
    UNVERIFIABLE,
    WRONG,
    meets,
    reaches,
)
from calc.commands.main import main
from calc.searching.same_cards import alternatives
from calc.uncertainty.amount import Amount
from catalogue.reading import words
from catalogue.reading.printed import read

HEAD = """title: {en: t, zh: t}
document: s1
defaults: {source: s1, kind: documented}
claims:
"""
WHAT = "what: {en: w, zh: w}, section: '1', line: 1"
EIGHTH = "formula: [divide, whole, parts], inputs: {whole: 8 GB, parts: 4}"
LAYERED = "[multiply, layers, byte]"
ROWS = ("sourced: {low: measurements/s2-910b1-awq/tpot/concurrency=1/min, "
        "high: measurements/s2-910b1-awq/tpot/concurrency=1/max}, right: low, most: high")
SIDES = "inputs: {a: 2, b: 1}"
POSITIVE = st.floats(1e-3, 1e6)


@pytest.fixture
def judged(tmp_path):
    """What becomes of claims as they stand in a file."""
    def run(*claims: str):
        path = tmp_path / "claims" / "mine.yml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEAD + "".join(f"  - {{{claim}}}\n" for claim in claims), encoding="utf-8")
        return audit(listed_in([path]))

    return run


def verdict(judged, claim: str) -> tuple[str, tuple[str, ...]]:
    found = judged(f"id: S1-001, {WHAT}, {claim}")
    assert not found.problems, found.problems
    return found.rows[0].judgement.verdict, found.rows[0].judgement.also


@pytest.mark.parametrize(("claim", "expected"), [
    # arithmetic first: 8 GB / 4 is not 3 GB, whatever else holds
    (f"printed: 3 GB, {EIGHTH}", (ARITHMETIC, ())),
    (f"printed: 2 GB, {EIGHTH}", (REPRODUCED, ())),
    # the card shows 95.58 GiB: with it the same formula gives 25.7 GB
    (f"printed: 2 GB, {EIGHTH}, sourced: {{whole: devices/nvidia-h20/memory_capacity}}",
     (INPUT, ())),
    (f"printed: 2 GB, {EIGHTH}, right: [multiply, whole, parts]", (FORMULA, ())),
    (f"printed: 2 GB, {EIGHTH}, sourced: {{whole: devices/nvidia-h20/memory_capacity}}, "
     "right: [multiply, whole, parts]", (BOTH, ())),
    # what goes in is as sources have it, and does not lead to ours: it is the formula
    (f"printed: 61 B, formula: {LAYERED}, inputs: {{layers: 61, byte: 1 B}}, sourced: {{layers: "
     "models/deepseek-v3/num_hidden_layers}, truth: 's1-plan-c:kv_bytes_per_token'",
     (FORMULA, ())),
    # half a second is a digit of what is printed, and forty times ours
    ("printed: 5 s, formula: a, inputs: {a: 5 s}, sourced: {a: 'measurements/s2-910b1-awq/e2e/"
     "input_tokens=128,concurrency=1'}, right: [divide, a, 1000]", (BOTH, ())),
    ("printed: 148 TFLOPS, truth: devices/nvidia-h20/matrix_peak/fp16", (SPECIFICATION, (RIGHT,))),
    # both directions of an entry restate it
    ("printed: 900 GB/s, right: [multiply, 2, x], sourced: {x: links/nvlink-h20/device_bandwidth}",
     (SPECIFICATION, (RIGHT,))),
    ("printed: 600 GB/s, right: [multiply, 2, x], sourced: {x: links/nvlink-h20/device_bandwidth}",
     (SPECIFICATION, (WRONG,))),
    ("printed: 296 TFLOPS, truth: devices/nvidia-h20/matrix_peak/fp16", (SPECIFICATION, (WRONG,))),
    ("printed: 64 GB, truth: devices/ascend-910b2/memory_capacity",
     (SPECIFICATION, (RIGHT, BINARY))),
    ("printed: 8, truth: 's1-plan-c:tensor_parallel'", (REPRODUCED, ())),
    ("printed: 8, truth: 's1-plan-c:tensor_parallel', deployment: s1-plan-c", (INFEASIBLE, ())),
    ("printed: 40 ms, truth: 's1-plan-c:ttft'", (INFEASIBLE, ())),
    ("printed: 85.6 ms, truth: 's2-910b1-awq:tpot'", (REPRODUCED, ())),
    ("printed: 78 ms, truth: 's2-910b1-awq:tpot'", (COMPATIBLE, ())),
    ("printed: 22 ms, truth: 's2-910b1-awq:tpot'", (NUMBER, ())),
    ("printed: 900 ms, bound: at_most, truth: 's2-910b1-awq:tpot'", (MET, ())),
    ("printed: 22 ms, bound: at_least, truth: 's2-910b1-awq:tpot'", (MET, ())),
    # a rounding to a twentieth, where it is called about
    ("printed: 55, approximate: true, right: [multiply, a, 1], inputs: {a: 53.8}",
     (REPRODUCED, ())),
    ("printed: 110, approximate: true, right: [multiply, a, 1], inputs: {a: 118}", (NUMBER, ())),
    # a statement in words, by the number that decides it
    (f"words: w, comparison: {{of: [divide, a, b], above: 1}}, {SIDES}", (MET, ())),
    (f"words: w, comparison: {{of: [divide, a, b], below: 1}}, {SIDES}", (NUMBER, ())),
    # what no formula of the document leads to has no wrong formula
    (f"printed: 2 GB, {EIGHTH}, reconstructed: true, right: [multiply, whole, parts]",
     (NUMBER, ())),
    ("printed: 32768, setting: {program: vLLM, engine: vllm, name: max_model_len, value: 32768}",
     (SETTING, ("accepted",))),
    # the cards of plan C are short of memory
    ("printed: 32768, setting: {program: vLLM, engine: vllm, name: max_model_len, value: 32768}, "
     "deployment: s1-plan-c", (SETTING, ("accepted", INFEASIBLE))),
    # releases that took it are older than the model
    ("printed: 512, setting: {program: vLLM, engine: vllm, name: max_paddings, value: 512}",
     (SETTING, ("unknown",))),
    ("printed: 40, setting: {program: vLLM, engine: vllm, name: expert_cache_size_gb, value: 40}",
     (SETTING, ("unknown",))),
    ("printed: 10 ms, alert: {of: 's2-910b1-awq:tpot', fires: above}", (THRESHOLD, (ALWAYS,))),
    ("printed: 3, missing: {en: m., zh: m。}", (UNVERIFIABLE, ())),
    ("printed: 3, missing: {en: m., zh: m。}, assumed: true", (ASSUMPTION, ())),
    ("words: AWQ, missing: {en: m., zh: m。}", (UNVERIFIABLE, ())),
    ("printed: 94 GB, known: {value: 94 GB, source: arithmetic, kind: vendor}",
     (SPECIFICATION, (RIGHT,))),
    ("printed: 22.8 ms, truth: 'measurements/s2-910b1-awq/tpot/input_tokens=128,concurrency=1'",
     (REPRODUCED, ())),
    ("printed: 22.8 ms, truth: 'measurements/s2-910b1-awq/tpot/min'", (REPRODUCED, ())),
    # its own rows say otherwise, of a range at either end
    ("printed: 24 ms, truth: 'measurements/s2-910b1-awq/tpot/min'", (ARITHMETIC, ())),
    (f"printed: [22.8 ms, 29.7 ms], {ROWS}", (REPRODUCED, ())),
    (f"printed: [25 ms, 29.7 ms], {ROWS}", (ARITHMETIC, ())),
    (f"printed: [22.8 ms, 26 ms], {ROWS}", (ARITHMETIC, ())),
    # a step as it is printed: twice the 16,000 of a replica
    ("claim: 's1-plan-d:output_throughput.2', formula: [multiply, rate, 2], "
     "inputs: {rate: 16000 token/s}, sourced: {rate: 's1-plan-d:output_throughput/replica'}",
     (INPUT, (INFEASIBLE,))),
])
def test_a_verdict_follows_from_its_numbers(judged, claim, expected):
    assert verdict(judged, claim) == expected


def test_an_input_that_changes_changes_the_verdict(judged):
    found = [verdict(judged, f"printed: 2 GB, formula: [divide, whole, parts], "
                             f"inputs: {{whole: 8 GB, parts: {parts}}}")[0] for parts in (4, 8)]
    assert found == [REPRODUCED, ARITHMETIC]


def test_an_input_that_another_claim_prints_is_replaced_by_ours(judged):
    rows = judged(f"id: S1-001, {WHAT}, printed: 296 TFLOPS, "
                  "truth: devices/nvidia-h20/matrix_peak/fp16",
                  f"id: S1-002, {WHAT}, printed: 592 TFLOPS, formula: [multiply, 2, peak], "
                  "inputs: {peak: 296 TFLOPS}, sourced: {peak: corrected/S1-001}").rows
    assert rows[1].judgement.verdict == INPUT
    assert rows[1].case.truth.three.value == 2 * rows[0].case.truth.three.value


def test_a_claim_made_again_is_judged_again(judged):
    peak = "truth: devices/nvidia-h20/matrix_peak/fp16"
    rows = judged(f"id: S1-001, {WHAT}, printed: 148 TFLOPS, {peak}",
                  "id: S1-002, line: 2, like: S1-001",
                  "id: S1-003, line: 3, like: S1-001, printed: 296 TFLOPS").rows
    assert [row.judgement.also[0] for row in rows] == [RIGHT, RIGHT, WRONG]
    assert rows[1].case.what == rows[0].case.what


@pytest.mark.parametrize(("claim", "says"), [
    ("id: S1-002, line: 2, like: S1-009", "is no earlier claim"),
    ("id: S1-002, line: 2, like: S1-002", "is no earlier claim"),
    (f"id: S1-002, {WHAT}, printed: 2, truth: 's1-plan-z:tpot'", "s1-plan-z"),
    (f"id: S1-002, {WHAT}, printed: 2, truth: 's1-plan-c:pace'", "is no name of"),
    (f"id: S1-002, {WHAT}, printed: 2, truth: devices/nvidia-h20/name", "is no number"),
    (f"id: S1-002, {WHAT}, printed: 2, truth: devices/nvidia-h21/power", "nearest names"),
    (f"id: S1-002, {WHAT}, printed: 2, formula: [divide, a, b], inputs: {{a: 1, b: 0}}",
     "division by zero"),
    (f"id: S1-002, {WHAT}, printed: 2, formula: [power, a, [power, a, [power, a, a]]], "
     "inputs: {a: 9}", ""),
    (f"id: S1-002, {WHAT}, printed: 2, formula: [divid, a, b], inputs: {{a: 1, b: 1}}",
     "unknown operator"),
    (f"id: S1-002, {WHAT}, printed: 2, formula: [divide, a, b], inputs: {{a: 1}}",
     "not among the inputs"),
    (f"id: S1-002, {WHAT}, printed: 2, formula: [divide, a, b], inputs: {{a: 1 GB, b: 1 s}}",
     "comes out in B/s"),
    (f"id: S1-002, {WHAT}, printed: 2 ms, truth: devices/nvidia-h20/memory_capacity",
     "the truth is in B"),
    (f"id: S1-002, {WHAT}, printed: 2", "what it is held against"),
    (f"id: S1-002, {WHAT}, missing: {{en: m, zh: m}}", "'printed' is missing"),
    (f"id: S1-002, {WHAT}, words: 更高, missing: {{en: m, zh: m}}", "that are Chinese in English"),
    (f"id: S1-002, {WHAT}, words: fp8, english: fp8, missing: {{en: m, zh: m}}", "and no others"),
    (f"id: S1-002, {WHAT}, printed: 2 ms, cause: no-such, missing: {{en: m, zh: m}}",
     "causes.yml"),
    (f"id: S1-002, {WHAT}, printed: 2, truth: measurements/s2-910b1-awq/tpot", "30 rows"),
    (f"id: S1-002, {WHAT}, printed: 2, truth: claims/S1-009", "no claim"),
    (f"id: S1-002, {WHAT}, printed: 2, truth: corrected/S1-009", "no claim"),
    (f"id: S1-002, {WHAT}, printed: 2, truth: corrected/S1-002", "rests on itself"),
    (f"id: S1-002, {WHAT}, printed: 2, most: 3, truth: 's1-plan-c:tensor_parallel'",
     "of the lower end"),
    ("id: S1-002, line: 2, example: s1-f99.1", "no example"),
    ("id: S1-002, line: 2, claim: 's1-plan-c:output_throughput'", "claims, expected one"),
])
def test_a_claim_that_cannot_be_used_leaves_the_others_alone(judged, claim, says):
    good = f"id: S1-001, {WHAT}, printed: 2 GB, {EIGHTH}"
    found = judged(good, claim, good.replace("S1-001", "S1-003"))
    assert [row.id for row in found.rows] == ["S1-001", "S1-003"]
    [problem] = found.problems
    assert "mine.yml:6" in problem
    assert says in problem
    assert problem.count("\n") == 0


@given(POSITIVE, POSITIVE, POSITIVE)
def test_a_bound_that_is_looser_is_kept_too(limit, more, value):
    """If it is printed with as many digits, since fewer leave more room."""
    ours = Amount(value, value * 0.8, value * 1.3)
    at_most = [meets(read(f"{each:.5e}"), ours, "at_most") for each in (limit, limit + more)]
    assert at_most[1] >= at_most[0]
    at_least = [meets(read(f"{each:.5e}"), ours, "at_least") for each in (limit, limit + more)]
    assert at_least[0] >= at_least[1]


@given(POSITIVE, POSITIVE)
def test_what_is_met_is_reached(printed, value):
    ours, written = Amount(value, value * 0.8, value * 1.3), read(f"{printed:.3f}")
    for bound in (None, "at_most", "at_least"):
        assert reaches(written, ours, bound) >= meets(written, ours, bound)


def test_on_the_command_line(monkeypatch, capsys, tmp_path):
    path = tmp_path / "claims" / "mine.yml"
    path.parent.mkdir()
    path.write_text(HEAD + f"  - {{id: S1-001, {WHAT}, printed: 2 GB, {EIGHTH}}}\n"
                    f"  - {{id: S1-002, {WHAT}, printed: 2, truth: nothing}}\n", encoding="utf-8")
    monkeypatch.setattr(claim_files, "locate", lambda kind, name: path)
    monkeypatch.setattr(claim_files, "names", lambda kind: ["mine"])
    assert main(["audit", "--json"]) == 2
    said, problem = capsys.readouterr()
    answer = json.loads(said)
    assert answer["counts"] == {"s1": {REPRODUCED: 1}}
    assert answer["claims"][0]["documented"] == {
        "value": 2e9, "low": 2e9, "high": 2e9, "unit": "B", "written": "2 GB"}
    assert "mine.yml:6" in problem
    assert main(["audit", "--verdict", ARITHMETIC, "--csv"]) == 2
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.parametrize(("claim", "says"), [
    ("printed: 2, truth: 's1-plan-c:tpott'", "the nearest names are tpot"),
    ("printed: 2, truth: devices/nvidia-h20/memory_capacty", "nearest names are memory_capacity"),
    ("printed: 2 ms, truth: devices/nvidia-h20/memory_capacity", "the truth is in B"),
    ("printed: 2, truth: corrected/S1-0991", "nearest names are S1-099"),
    ("words: w, comparison: {of: [divide, a, b], above: 1}, inputs: {a: 1 GB, b: 1}",
     "comparison comes out in B"),
])
def test_check_refuses_what_cannot_be_judged(capsys, tmp_path, claim, says):
    path = tmp_path / "claims" / "mine.yml"
    path.parent.mkdir()
    path.write_text(HEAD + f"  - {{id: S1-001, {WHAT}, {claim}}}\n", encoding="utf-8")
    assert main(["check", str(path)]) == 2
    [said] = capsys.readouterr().err.splitlines()
    assert "mine.yml:5: S1-001" in said
    assert says in said


def test_what_the_ledger_holds_is_judged_where_it_is_checked(capsys):
    assert main(["check", str(catalogue.ROOT / "claims" / "s3.yml")]) == 0
    assert capsys.readouterr().err == ""


def test_every_cause_explains_a_claim():
    from catalogue.reading.shared import causes

    assert set(causes()) == {row.case.listed.claim.cause for row in audit().rows} - {None}


def written():
    """Claims by their numbers, as the files of the ledger have them."""
    return {number for path in (catalogue.ROOT / "claims").glob("*.yml")
            for number in re.findall(r"- *\{? *id: (S[0-3]-\d+)", path.read_text("utf-8"))}


def test_nothing_of_the_ledger_is_left_unjudged():
    begin = time.process_time()
    whole = audit()
    assert whole.problems == ()
    counts = whole.counts()
    assert sum(count.total() for count in counts.values()) == len({row.id for row in whole.rows})
    assert {row.id for row in whole.rows} >= written()
    undecided = sum(count[ASSUMPTION] + count[UNVERIFIABLE] for count in counts.values())
    assert undecided <= len(whole.rows) / 4
    assert time.process_time() - begin < 100  # not a measure of speed: a search that runs away
    for row in whole.rows:
        said = row.as_json()
        assert said["what"]["en"]
        assert said["why"]["zh"]


def test_where_pages_are_made_verdicts_are_the_same(monkeypatch):
    """Signs of texts are hidden there, and a setting's name has some."""
    before = {row.id: row.judgement for row in audit().rows}
    monkeypatch.setattr(words, "_pages_are_made", lambda: True)
    assert {row.id: row.judgement for row in audit().rows} == before


@pytest.mark.parametrize("users", [80, 320])
def test_the_plan_as_it_can_run_runs_and_nothing_of_its_cards_is_better(users):
    """In the published weights, for the requests that it is costed with."""
    plan = catalogue.load_scenario(PLAN, overrides=[*RUNS,
                                                    f"workload.concurrency={users} request"])
    assert estimate(plan).fits
    best = alternatives(plan).official
    assert best is not None
    assert best.settings == {}


@pytest.mark.parametrize("claims", ["5", "a claim", "{id: S1-001}", "null"])
def test_claims_that_are_no_list_are_one_sentence(tmp_path, claims):
    path = tmp_path / "mine.yml"
    path.write_text(f"{HEAD.rstrip()} {claims}\n", encoding="utf-8")
    found, [problem] = listed_in([path])
    assert found == []
    assert problem.count("\n") == 0
    assert f"mine.yml:{HEAD.count(chr(10))}: claims" in problem
