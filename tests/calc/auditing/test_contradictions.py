"""Claims that exclude each other: found from printed numbers alone."""

from __future__ import annotations

import pytest
from _claims import WHAT, audit_claims

from calc.auditing.claims import load_quantities
from calc.auditing.contradictions import NUMBERS, SETTING, VALUES, excluded
from catalogue import ParamsError
from catalogue.ledger import NumericLaw

OPEN = "missing: {en: m., zh: m。}"
TEXT = {"en": "w", "zh": "w"}
SUM = NumericLaw(words=TEXT, left="whole", holds="equal", right=["add", "a", "b"],
                 of=[{"whole": "S1-001", "a": "S1-002", "b": "S1-003"}])
LAWS = "title: {en: t, zh: t}\nlaws:\n  l:\n    words: {en: n, zh: n}\n    left: a\n"
QUANTITY = "title: {en: t, zh: t}\nquantities:\n  q:\n    name: {en: n, zh: n}\n    claims: "
PROBLEMS = [
    (QUANTITY + "[S0-001, S0-999]\n", 5, "there is no claim 'S0-999', the nearest names are "
     "S0-099, S0-199, S0-299."),
    (QUANTITY + "[S0-001, S0-001]\n", 5, "quantities.q: 'S0-001' is listed twice."),
    (LAWS + "    holds: equal\n    right: b\n    of: [{a: S0-001}]\n", 8,
     "laws.l: expected the letters a, b, found a.")]


@pytest.fixture
def audited(tmp_path):
    """Audit some claims beside a file of quantities."""
    def run(claims: dict[str, str], quantities: dict):
        answer = audit_claims(tmp_path, *(
            f"id: {name}, {WHAT}, {claim}" for name, claim in claims.items()),
            quantities=quantities)
        assert not answer.problems, answer.problems
        return answer

    return run


def one_quantity(*claims, end=""):
    """Claims of one quantity, by their numbers."""
    named = {f"S1-00{at}": claim for at, claim in enumerate(claims, 1)}
    quantity = {"name": TEXT, "claims": [f"{name}{end}" for name in named]}
    return named, {"quantities": {"q": quantity}}


@pytest.mark.parametrize(("first", "second", "exclude"), [
    ("printed: 400 GB/s", "printed: 1.2 TB/s", True),
    ("printed: 400 GB/s", "printed: 0.4 TB/s", False),
    ("printed: 392 GB/s", "printed: 400 GB/s", True),
    ("printed: 2.0 TB/s", "printed: 2.04 TB/s", False),  # within a printed digit
    ("printed: 100", "printed: 105", False), ("printed: 100", "printed: 106", True),
    ("printed: [80 %, 90 %]", "printed: 0.85", False),  # inside of a range
    ("printed: [80 %, 90 %]", "printed: 0.7", True),
    ("printed: 50, approximate: true", "printed: 52", False),
    ("printed: 50, approximate: true", "printed: 60", True),
    ("printed: 1 us, bound: at_most", "printed: 0.5 us", False),  # on its right side
    ("printed: 1 us, bound: at_most", "printed: 5 us", True),
    ("printed: 100, bound: at_least", "printed: 5000", False),
    ("printed: 100, bound: at_least", "printed: 64, bound: at_most", True),
    ("printed: 100", "printed: 100 W", False),  # of two units, not one quantity
    ("words: fast", "printed: 100", False)])
def test_two_values_of_one_quantity(audited, first, second, exclude):
    answer = audited(*one_quantity(f"{first}, {OPEN}", f"{second}, {OPEN}"))
    assert [each.id for each in answer.contradictions] == ["S1-001~S1-002"] * exclude
    assert {each.kind for each in answer.contradictions} <= {VALUES}
    assert [row.judgement.clashes for row in answer.rows] == (
        [("S1-002",), ("S1-001",)] if exclude else [(), ()])


def test_named_end_of_a_range(audited):
    ranges = [f"printed: [{low} %, 160 %], {OPEN}" for low in (100, 94)]
    assert not audited(*one_quantity(*ranges)).contradictions
    assert not audited(*one_quantity(*ranges, end="/high")).contradictions
    [found] = audited(*one_quantity(*ranges, end="/low")).contradictions
    assert found.values == ("100–160 %", "94–160 %")


@pytest.mark.parametrize(("total", "broken"), [("8", False), ("10", True), ("[7, 8]", False)])
def test_numbers_that_a_law_excludes(audited, total, broken):
    claims = {"S1-001": f"printed: {total}, {OPEN}", "S1-002": f"printed: 5, {OPEN}",
              "S1-003": f"printed: 3.0, {OPEN}"}
    answer = audited(claims, {"laws": {"sum": SUM.model_dump()}})
    assert [each.kind for each in answer.contradictions] == [NUMBERS] * broken


@pytest.mark.parametrize(("holds", "a", "b", "broken"), [
    ("equal", (10, 10), (5, 5), False), ("equal", (10, 10), (4, 4.9), True),
    ("equal", (10, 12), (6, 7), False), ("equal", (10, 12), (6.01, 7), True),
    ("at_most", (10, 12), (4, 4.9), True), ("at_most", (10, 12), (4, 5), False),
    ("at_most", (10, 12), (50, 60), False), ("at_most", (0, 12), (1, 4), False)])
def test_law_excludes_intervals_wholly_on_one_side(holds, a, b, broken):
    law = NumericLaw(words=TEXT, left="a", holds=holds, right=["multiply", 2, "b"],
                     of=[{"a": "S1-001", "b": "S1-002"}])
    assert excluded(law, {"a": a, "b": b}) is broken


def test_setting_that_is_set_twice(audited):
    """However it is spelled, in one launch or in one deployment and section."""
    given = "%s, setting: {program: vLLM, engine: vllm, name: %s, value: %s}"
    settings = {"S1-001": given % ("printed: 80", "max_num_seqs", 80),
                "S1-002": given % ("printed: 80", "--max-num-seqs", 80),
                "S1-003": given % ("printed: 64", "max-num-seqs", 64),
                "S1-004": given % ("words: 'false'", "enforce_eager", "false"),
                "S1-005": given % ("words: 'true'", "--enforce-eager", "true")}
    launch = {"launches": {"l": {"name": TEXT, "claims": list(settings)}}}
    pairs = ["S1-001~S1-003", "S1-002~S1-003", "S1-004~S1-005"]
    assert [(each.id, each.kind) for each in audited(settings, launch).contradictions] == [
        (pair, SETTING) for pair in pairs]
    assert not audited(settings, {}).contradictions  # no statement that they belong together
    placed = {name: f"{text}, deployment: s1-plan-c" for name, text in settings.items()}
    assert [each.id for each in audited(placed, {}).contradictions] == pairs
    placed["S1-003"] = placed["S1-003"].replace("s1-plan-c", "s1-plan-b")
    assert [each.id for each in audited(placed, {}).contradictions] == pairs[2:]


@pytest.mark.parametrize(("text", "line", "message"), PROBLEMS)
def test_bad_file_of_quantities(tmp_path, text, line, message):
    file = tmp_path / "quantities" / "mine.yml"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ParamsError) as refused:
        load_quantities(str(file))
    assert str(refused.value).partition(f"mine.yml:{line}: ")[2] == message
