"""Claims that exclude each other: found from what is printed, and by nothing else."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.auditing.audit import audit
from calc.auditing.claim_files import listed, listed_in
from calc.auditing.contradicting.contradictions import (
    NUMBERS,
    SETTING,
    VALUES,
    against,
    contradictions,
    excluded,
    reach,
)
from calc.auditing.contradicting.quantity_files import entries, groups, load
from calc.auditing.judging import HOLDS
from calc.commands.main import main
from catalogue import ParamsError
from catalogue.ledger.quantities import NumericLaw

HEAD = "title: {en: t, zh: t}\ndocument: s1\ndefaults: {source: s1, kind: documented}\nclaims:\n"
WHAT = "what: {en: w, zh: w}, section: '1', line: 1"
OPEN = "missing: {en: m., zh: m。}"
SUM = NumericLaw(words={"en": "w", "zh": "w"}, left="whole", holds="equal",
                 right=["add", "a", "b"], of=[{"whole": "S1-001", "a": "S1-002", "b": "S1-003"}])
LIMIT = NumericLaw(words={"en": "w", "zh": "w"}, left="a", holds="at_most", right="b",
                   of=[{"a": "S1-001", "b": "S1-002"}])
POSITIVE = st.floats(1e-3, 1e6)


@pytest.fixture(scope="module")
def whole():
    return audit()


@pytest.fixture
def found(tmp_path):
    """What excludes each other of some claims and a file of quantities."""
    def run(claims: dict[str, str], quantities: dict):
        path = tmp_path / "claims" / "mine.yml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEAD + "".join(f"  - {{id: {name}, {WHAT}, {claim}}}\n"
                                       for name, claim in claims.items()), encoding="utf-8")
        file = tmp_path / "quantities" / "mine.yml"
        file.parent.mkdir(exist_ok=True)
        text = {"en": "t", "zh": "t"}
        file.write_text(yaml.safe_dump({"title": text, **quantities}), encoding="utf-8")
        judged = audit(listed_in([path]), files=[catalogue.load("quantities", str(file))])
        assert not judged.problems, judged.problems
        return judged

    return run


def two(first: str, second: str) -> tuple[dict[str, str], dict]:
    """Two claims of one quantity."""
    return ({"S1-001": f"{first}, {OPEN}", "S1-002": f"{second}, {OPEN}"},
            {"quantities": {"q": {"name": {"en": "n", "zh": "n"},
                                  "claims": ["S1-001", "S1-002"]}}})


@pytest.mark.parametrize(("first", "second", "exclude"), [
    ("printed: 400 GB/s", "printed: 1.2 TB/s", True),
    ("printed: 400 GB/s", "printed: 0.4 TB/s", False),
    ("printed: 392 GB/s", "printed: 400 GB/s", True),
    ("printed: 2.0 TB/s", "printed: 2.04 TB/s", False),  # within a printed digit
    ("printed: [80 %, 90 %]", "printed: 0.85", False),  # inside of a range
    ("printed: [80 %, 90 %]", "printed: 0.7", True),
    ("printed: 50, approximate: true", "printed: 52", False),
    ("printed: 50, approximate: true", "printed: 60", True),
    ("printed: 1 us, bound: at_most", "printed: 0.5 us", False),  # on its right side
    ("printed: 1 us, bound: at_most", "printed: 5 us", True),
    ("printed: 100, bound: at_least", "printed: 5000", False),
    ("printed: 100, bound: at_least", "printed: 16", True),
    ("printed: 100, bound: at_least", "printed: 64, bound: at_most", True),
    ("printed: 100", "printed: 100 W", False),  # of two units, not one quantity
    ("words: fast", "printed: 100", False),
])
def test_two_values_of_one_quantity(found, first, second, exclude):
    judged = found(*two(first, second))
    assert [each.id for each in judged.contradictions] == ["S1-001~S1-002"] * exclude
    clashes = [row.judgement.clashes for row in judged.rows]
    assert clashes == ([("S1-002",), ("S1-001",)] if exclude else [(), ()])


def test_words_on_either_side_of_a_limit(found):
    def said(side):
        return f"words: w, comparison: {{of: a, {side}}}, inputs: {{a: 3}}"

    _, quantities = two("", "")
    for first, second, exclude in (("above: 2", "below: 1", True), ("above: 2", "below: 4", False),
                                   ("above: 2", "above: 1", False)):
        judged = found({"S1-001": said(first), "S1-002": said(second)}, quantities)
        assert len(judged.contradictions) == exclude


def test_one_end_of_a_range_is_held_against_another(found):
    claims, quantities = two("printed: [100 %, 160 %]", "printed: [94 %, 160 %]")
    assert not found(claims, quantities).contradictions
    quantities["quantities"]["q"]["claims"] = ["S1-001/low", "S1-002/low"]
    assert found(claims, quantities).contradictions[0].values == ("100–160 %", "94–160 %")


@pytest.mark.parametrize(("whole_", "broken"), [("8", False), ("10", True), ("[7, 8]", False)])
def test_numbers_that_a_law_excludes(found, whole_, broken):
    claims = {"S1-001": f"printed: {whole_}, {OPEN}", "S1-002": f"printed: 5, {OPEN}",
              "S1-003": f"printed: 3.0, {OPEN}"}
    laws = {"laws": {"sum": SUM.model_dump()}}
    judged = found(claims, laws)
    assert [each.kind for each in judged.contradictions] == [NUMBERS] * broken


def test_a_setting_that_is_set_twice(found):
    given = "setting: {program: vLLM, engine: vllm, name: NAME, value: VALUE}"

    def one(name, value):
        return (f"printed: {value}, " if not isinstance(value, str) else f"words: '{value}', ") + (
            given.replace("NAME", name).replace("VALUE", str(value)))

    settings = {"S1-001": one("max_num_seqs", 80), "S1-002": one("--max-num-seqs", 80),
                "S1-003": one("max-num-seqs", 64), "S1-004": one("enforce_eager", "false"),
                "S1-005": one("--enforce-eager", "true")}
    launch = {"launches": {"l": {"name": {"en": "n", "zh": "n"}, "claims": list(settings)}}}
    pairs = ["S1-001~S1-003", "S1-002~S1-003", "S1-004~S1-005"]
    assert [(each.id, each.kind) for each in found(settings, launch).contradictions] == [
        (pair, SETTING) for pair in pairs]
    assert not found(settings, {}).contradictions  # nothing says that they are of one deployment
    placed = {name: f"{text}, deployment: s1-plan-c" for name, text in settings.items()}
    assert [each.id for each in found(placed, {}).contradictions] == pairs
    placed["S1-003"] = placed["S1-003"].replace("s1-plan-c", "s1-plan-b")
    assert [each.id for each in found(placed, {}).contradictions] == pairs[2:]


@given(POSITIVE, POSITIVE)
def test_a_law_that_holds_excludes_nothing(a, b):
    def exactly(**values):
        return {letter: (value, value) for letter, value in values.items()}

    assert not excluded(SUM, exactly(whole=a + b, a=a, b=b))
    for share in (0.9, 1.1):
        assert excluded(SUM, exactly(whole=share * (a + b), a=a, b=b))
    assert excluded(LIMIT, exactly(a=a, b=b)) == (a > b * (1 + 1e-9))
    assert not excluded(SUM, {"whole": (a + b, 2 * (a + b)), "a": (a / 2, a), "b": (b, 2 * b)})


def test_there_are_many_and_each_names_claims_that_exist(whole):
    assert not whole.problems
    rows = {row.id: row for row in whole.rows}
    assert len(whole.contradictions) >= 90
    assert len({each.id for each in whole.contradictions}) == len(whole.contradictions)
    assert {each.kind for each in whole.contradictions} == {VALUES, NUMBERS, SETTING}
    for each in whole.contradictions:
        assert len(set(each.claims)) == len(each.claims) >= 2
        assert list(each.claims) == sorted(each.claims)
        assert all(value for value in each.values)
        assert all(rows[claim].judgement.standing == HOLDS for claim in each.right)


def test_what_is_said_of_a_claim_is_said_of_the_other(whole):
    rows = {row.id: row for row in whole.rows}
    pairs = [each for each in whole.contradictions if each.kind != NUMBERS]
    for each in pairs:
        one, other = each.claims
        assert other in rows[one].judgement.clashes
        assert one in rows[other].judgement.clashes
    for name, others in against(pairs).items():
        assert all(name in against(pairs)[other] for other in others)


def test_no_number_is_held_against_one_that_it_can_be(whole):
    rows = {row.id: row.case for row in whole.rows}
    ends = {claim for file in entries() for quantity in file.quantities.values()
            for claim in quantity.claims if "/" in claim}
    ends = {claim.partition("/")[0] for claim in ends}
    for each in whole.contradictions:
        if each.kind == VALUES and not ends.intersection(each.claims):
            one, other = (rows[claim] for claim in each.claims)
            assert one.printed.text != other.printed.text
            assert not one.printed.same(other.printed)
            (low, high), (least, most) = reach(one), reach(other)
            assert high < least or most < low


def test_the_claims_of_a_quantity_are_of_one_unit(whole):
    rows = {row.id: row.case for row in whole.rows}
    for file in entries():
        for name, quantity in file.quantities.items():
            cases = [rows[claim.partition("/")[0]] for claim in quantity.claims]
            assert all(reach(case) is not None for case in cases), name
            printed = [case.printed for case in cases]
            assert len({each.unit for each in printed}) == 1, name


def test_the_claims_of_a_law_print_numbers(whole):
    rows = {row.id: row.case for row in whole.rows}
    for file in entries():
        for name, law in file.laws.items():
            for claim in {claim for each in law.of for claim in each.values()}:
                case = rows[claim.partition("/")[0]]
                assert case.printed is not None, (name, claim)
                assert case.listed.claim.words is None, (name, claim)


def test_the_order_of_files_and_claims_does_not_matter(whole):
    rows, files = list(whole.rows), entries()
    random.Random(1).shuffle(rows)
    again = contradictions(rows, files[::-1])
    assert [each.id for each in again] == [each.id for each in whole.contradictions]


def test_an_unknown_claim_is_one_sentence_with_its_line(tmp_path):
    file = tmp_path / "quantities" / "mine.yml"
    file.parent.mkdir()
    file.write_text("title: {en: t, zh: t}\nquantities:\n  q:\n    name: {en: n, zh: n}\n"
                    "    claims: [S0-001, S0-999]\n", encoding="utf-8")
    with pytest.raises(ParamsError, match=r"mine\.yml:5: there is no claim 'S0-999', the nearest"):
        load(str(file))
    file.write_text(file.read_text(encoding="utf-8").replace("S0-999", "S0-001"),
                    encoding="utf-8")
    with pytest.raises(ParamsError, match=r"mine\.yml:5: .*'S0-001' is listed twice"):
        load(str(file))
    file.write_text("title: {en: t, zh: t}\nlaws:\n  l:\n    words: {en: n, zh: n}\n    left: a\n"
                    "    holds: equal\n    right: b\n    of: [{a: S0-001}]\n", encoding="utf-8")
    with pytest.raises(ParamsError, match=r"mine\.yml:8: .*expected the letters a, b, found a"):
        load(str(file))


def test_every_claim_of_a_file_exists():
    known = {each.claim.id for each in listed()[0]}
    for _, claims in groups(entries()):
        assert set(claims) <= known


def test_the_command_prints_them(capsys, whole):
    assert main(["audit", "--contradictions", "--document", "s3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    of_s3 = [each for each in whole.contradictions
             if any(claim.startswith("S3") for claim in each.claims)]
    assert [line.split()[0] for line in lines[1:]] == [each.id for each in of_s3]
    assert main(["audit", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["contradictions"]
    assert [each["id"] for each in told] == [each.id for each in whole.contradictions]
    assert Counter(each["kind"] for each in told)[SETTING] >= 1
