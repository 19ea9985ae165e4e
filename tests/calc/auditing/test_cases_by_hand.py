"""A claim made ready to be judged: what its own formula gives, what of sources, what is ours."""

from __future__ import annotations

from types import SimpleNamespace as Made

import pytest

import catalogue
from calc.auditing import cases
from calc.auditing.cases import Cases, _fits, _lender, _letters
from calc.auditing.claim_files import Listed
from calc.auditing.truths import Truth
from calc.uncertainty.amount import Amount
from catalogue import ParamsError
from catalogue.entries.formulas import Letter
from catalogue.ledger.rows import Claim
from catalogue.reading import shared
from catalogue.reading.values import Provenance, Value

TEXT = {"en": "w", "zh": "w"}
FILED = Provenance({"source": "x y", "kind": "documented"}, frozenset(), print)
OTHER = {"en": "other", "zh": "别"}
PRODUCT = ["multiply", "a", "b"]
RIGHT = ["multiply", "a", ["multiply", "b", "c"]]


def value(number, unit="1", written=None, low=None, high=None, source="x"):
    return Value(number, unit, written or f"{number:g}", source, "vendor",
                 number if low is None else low, number if high is None else high, section="7")


def claim(**given):
    told = {"id": "S1-005", "line": 1, "section": "1", "what": TEXT} | given
    return Claim.model_validate(told, context=FILED)


def listed(made, **letters):
    return Listed(made, "s1", "here:1", letters)


def truth(number, where="there", **others):
    return Truth(Amount.exactly(number), others.pop("unit", "1"), where, **others)


TRUTHS = {"devices/d/a": truth(5.0, sources=("vendor",), listed=True),
          "models/m/c": truth(2.0, sources=("paper", "vendor"), listed=True),
          "plan:tpot": truth(9.0, scenario="plan")}


def of(*claims, found=TRUTHS):
    """Cases of some claims, whose references have these truths."""
    made = Cases([each if isinstance(each, Listed) else listed(each) for each in claims])
    made.truths = Made(of=found.__getitem__)
    return made


GIVEN = {"printed": 12, "formula": PRODUCT, "inputs": {"a": "3", "b": "4"}}


def test_a_claim_with_its_formula_the_right_one_and_sources():
    """3 times 4 is what it prints; with the source's 5 it is 20, and rightly twice that."""
    row = claim(**GIVEN, right=RIGHT, sourced={"a": "devices/d/a", "c": "models/m/c"}, note=TEXT,
                reconstructed=True)
    case = of(row).of(listed(row))
    assert (case.own, case.resourced, case.righted, case.truth.three.value) == (12, 20, 24, 40)
    assert case.moved == {"a": (3, 5)}
    assert (case.truth.where, case.truth.parts, case.truth.sources, case.truth.listed) == (
        "S1-005", ("devices/d/a", "models/m/c"), ("vendor", "paper"), False)
    assert (case.printed.value, case.itself, case.bound, case.reconstructed, case.compares,
            case.fits, case.note, case.section) == (12, False, None, True, False, None, TEXT, "1")
    assert {name: letter.en for name, letter in case.letters.items()} == {
        name: catalogue.symbols()[name].en if name in catalogue.symbols() else name
        for name in ("a", "b")}


def test_what_is_ours_whatever_the_document_puts_in_is_not_tried_on_its_inputs():
    free = claim(printed=12, formula=PRODUCT, inputs={"a": "3", "b": "4"},
                 right=["multiply", "a", "c"], sourced={"a": "devices/d/a", "c": "models/m/c"})
    case = of(free).of(listed(free))
    assert (case.righted, case.resourced, case.truth.three.value) == (None, 20, 10)
    alone = claim(**GIVEN)
    case = of(alone).of(listed(alone))
    assert (case.own, case.resourced, case.righted, case.truth.three.value, case.moved) == (
        12, None, None, 12, {})


def test_what_decides_a_claim_is_its_truth_its_alert_or_what_is_known():
    told = claim(printed=9, truth="plan:tpot")
    assert of(told).of(listed(told)).truth is TRUTHS["plan:tpot"]
    alert = claim(printed=9, alert={"of": "plan:tpot", "fires": "above"})
    assert of(alert).of(listed(alert)).truth is TRUTHS["plan:tpot"]
    known = claim(printed=9, known=value(7.0, low=6.0, high=8.0, source="paper"))
    found = of(known).of(listed(known)).truth
    assert (found.three.points, found.where, found.listed) == ((7, 6, 8), "sources/paper", True)
    nothing = claim(**GIVEN, missing=TEXT, assumed=True)
    case = of(nothing).of(listed(nothing))
    assert (case.truth, case.missing, case.assumed) == (None, TEXT, True)


def test_a_number_of_the_document_s_own_rows_is_its_arithmetic():
    rows = {"measurements/m/c": truth(2.0), "claims/S1-001": truth(3.0),
            "devices/d/a": TRUTHS["devices/d/a"]}
    for where, itself in (("measurements/m/c", True), ("claims/S1-001", True),
                          ("devices/d/a", False)):
        row = claim(printed=2, truth=where)
        case = of(row, found=rows).of(listed(row))
        assert (case.itself, case.own) == (
            itself, rows[where].three.value if itself else None)


def test_a_statement_is_held_by_its_number_and_a_range_by_both_its_ends():
    said = claim(words="w", comparison={"of": PRODUCT, "above": "11"},
                 inputs={"a": "3", "b": "4"})
    case = of(said).of(listed(said))
    assert (case.bound, case.compares, case.printed.value, case.printed.last, case.words) == (
        "at_least", True, 11, (0,), "w")
    assert (case.truth.three.value, case.own) == (12, None)
    ends = claim(printed=[11, 13], right="a", most=PRODUCT, inputs={"b": "4"},
                 sourced={"a": "devices/d/a"})
    three = of(ends).of(listed(ends)).truth.three
    assert (three.low, three.high, three.value) == (5, 20, 20)


def test_a_claim_made_again_has_the_numbers_of_the_first_where_it_prints_what_they_give():
    first = claim(**GIVEN, right=RIGHT, sourced={"a": "devices/d/a", "c": "models/m/c"}, note=TEXT)
    made = {"id": "S1-006", "line": 2, "like": "S1-005", "section": None, "what": None}
    same, about, far = (claim(**made | more) for more in (
        {}, {"printed": "12.0", "what": OTHER, "section": "9", "bound": "at_most", "note": OTHER},
        {"printed": "13.0"}))
    for row, again in ((same, True), (about, True), (far, False)):
        case = of(first, row).of(listed(row))
        assert (case.own, case.resourced, case.righted) == (
            (12, 20, 24) if again else (None, None, None))
        assert case.truth.three.value == 40
        assert case.listed.claim is row
        assert case.printed.text == (str(row.printed.text) if row.printed else "12")
        told = row is about
        assert (case.what, case.section, case.bound, case.note) == (
            (OTHER, "9", "at_most", OTHER) if told else (TEXT, "1", None, TEXT))


def test_words_of_a_claim_made_again_are_its_own_or_where_it_prints_nothing_the_first_s():
    first = claim(words="更高", english="higher", missing=TEXT)
    made = {"id": "S1-006", "line": 2, "like": "S1-005", "section": None, "what": None}
    for more, words, english, said in (
            ({}, "更高", "higher", "更高"), ({"words": "w"}, "w", None, "w"),
            ({"words": "低", "english": "low"}, "低", "low", "低"),
            ({"printed": "3 s"}, None, None, "3 s")):
        row = claim(**made | more)
        case = of(first, row).of(listed(row))
        assert (case.words, case.english, case.said) == (words, english, said)
    measured = {"measurements/m/c": truth(2.0)}
    first = claim(printed=2, truth="measurements/m/c")
    for printed, itself in (("2.0", True), ("3.0", False)):
        row = claim(**made, printed=printed)
        assert of(first, row, found=measured).of(listed(row)).itself is itself


def test_what_a_claim_says_of_itself_takes_the_place_of_what_the_first_says():
    causes = sorted(shared.causes())[:2]
    first = claim(**GIVEN, cause=causes[0], approximate=True, rests_on=TEXT)
    made = {"id": "S1-006", "line": 2, "like": "S1-005", "section": None, "what": None}
    plain, own = claim(**made), claim(**made, cause=causes[1], rests_on=OTHER)
    for row, cause, rests in ((plain, causes[0], TEXT), (own, causes[1], OTHER)):
        case = of(first, row).of(listed(row))
        assert (case.cause, case.approximate, case.rests_on) == (cause, True, rests)


def test_claims_rest_on_earlier_ones_and_a_failure_is_told_again():
    first = claim(**GIVEN)
    for like, name in (("S1-007", "S1-006"), ("S1-006", "S1-006"), ("S1-005", "S1-004")):
        row = claim(id=name, line=2, like=like, section=None, what=None)
        made = of(first, row)
        for _ in range(2):
            with pytest.raises(ParamsError, match=f"like: '{like}' is no earlier claim"):
                made.of(listed(row))
    made = of(first)
    assert made.of(listed(first)) is made.of(listed(first))


def test_of_what_is_no_earlier_claim_those_before_it_are_told_that_are_like_it():
    rows = [claim(**GIVEN | {"id": f"S1-00{number}"}) for number in (5, 6, 8)]
    row = claim(id="S1-007", line=2, like="S1-001", section=None, what=None)
    with pytest.raises(ParamsError, match=r"nearest names are S1-00[56], S1-00[56]$"):
        of(*rows, row).of(listed(row))


def example(**given):
    return Made(**{"given": lambda: {"a": 3.0, "b": 4.0}, "catalogue": {"c": "models/m/c"},
                   "printed": value(12.0), "percent": False, "scenario": None, "model": None,
                   "label": TEXT, "section": "3"} | given)


def formula(**given):
    return Made(**{"right": RIGHT, "right_quantity": None, "documented": PRODUCT,
                   "recomputed": lambda of: 12.0, "id": "s1-f99", "reconstructed": False,
                   "quantity": OTHER, "step": TEXT} | given)


FILE = Made(symbols={"a": Letter(latex="a", unit="1", en="first", zh="一")})


def row_of(**given):
    return listed(claim(section=None, what=None, example="s1-f99.1", **given))


def test_an_example_of_a_formula(monkeypatch):
    """Rightly on the source's 5: 40; on the document's own 3: 24; its formula on the 5: 20."""
    row = row_of(sourced={"a": "devices/d/a"})
    case = of(row)._of_example(row, example(), formula(), FILE)
    assert (case.own, case.resourced, case.righted, case.truth.three.value) == (12, 20, 24, 40)
    assert (case.moved, case.truth.parts, case.truth.where, case.truth.scenario) == (
        {"a": (3, 5)}, ("models/m/c", "devices/d/a"), "s1-f99", None)
    assert (case.what, case.section, case.printed.value, case.itself) == (TEXT, "3", 12, False)
    assert case.letters["a"].en == "first"
    assert case.letters.keys() > {"a", "tensor_parallel"}
    undefined = of(row)._of_example(row, example(label=None), formula(right=None), FILE)
    assert (undefined.truth, undefined.righted, undefined.what) == (None, None, OTHER)
    told = row_of(truth="plan:tpot")
    case = of(told)._of_example(told, example(), formula(), FILE)
    assert (case.truth, case.righted) == (TRUTHS["plan:tpot"], 24)


def test_what_an_example_s_deployment_knows_takes_the_place_of_what_the_document_puts_in(
        monkeypatch):
    """Unless the name is a letter of the document's own."""
    monkeypatch.setattr(cases, "deployment", lambda name: Made(
        knows="abz".__contains__, three=lambda name: Amount.exactly({"a": 99, "b": 7.0}[name])))
    row = row_of()
    case = of(row)._of_example(row, example(scenario="plan"), formula(), FILE)
    assert (case.truth.three.value, case.righted, case.resourced, case.moved) == (
        3 * 7 * 2, 3 * 4 * 2, 21, {"b": (4, 7)})
    assert case.truth.scenario == "plan"
    lent = _lender(example(scenario="plan"), FILE)
    assert [lent(name) and lent(name).value for name in "abc"] == [None, 7, None]
    assert _lender(example(), FILE)("b") is None


def test_what_an_example_s_model_has_is_its_shapes_and_parameters():
    own = Made(symbols={"hidden_size": None})
    lent = _lender(example(model="deepseek-v3"), own)
    assert lent("num_hidden_layers").value == 61
    assert lent("hidden_size") is None
    assert lent("ttft") is None
    assert 6.5e11 < lent("total_parameters").value < 7e11
    row = row_of()
    of_model = formula(right=None, right_quantity="num_hidden_layers")
    case = of(row)._of_example(row, example(model="deepseek-v3"), of_model, FILE)
    assert case.truth.three.value == 61
    assert case.truth.parts == ("models/m/c", "models/deepseek-v3")


def of_deployment(row, of_part="replica", knows=True, **given):
    found = Made(knows=lambda name: knows, three=lambda name: Amount.exactly(8.0),
                 inputs={"given_one": 1}, scenario=Made(
                     id="plan", replicas=4, devices=16,
                     model=Made(num_hidden_layers=Made(value=61))))
    scenario_claim = Made(**{
        "quantity": "tpot", "comparable": True, "value": value(2.0, "s", "2 s"), "of": of_part,
        "label": TEXT, "bound": None, "note": None, "formula": PRODUCT} | given)
    documented = Made(inputs={"a": value(3.0), "b": value(4.0), "unused": value(1.0)},
                      recomputed=lambda claim: 12.0)
    return of(row)._of_scenario(row, scenario_claim, documented, found)


def scenario_row(**given):
    return listed(claim(section=None, what=None, claim="plan:tpot", **given))


@pytest.mark.parametrize(("part", "ours", "where"), [
    ("deployment", 8, "plan:tpot"), ("replica", 2, "plan:tpot/replica"),
    ("device", 0.5, "plan:tpot/device"), ("layer", 8 / 61, "plan:tpot/layer")])
def test_a_number_of_a_deployment_or_of_one_of_its_parts(part, ours, where):
    case = of_deployment(scenario_row(), part)
    assert case.truth.three.value == pytest.approx(ours)
    assert (case.truth.where, case.truth.unit, case.truth.scenario, case.truth.given) == (
        where, "s", "plan", False)
    assert (case.own, case.resourced, case.righted, case.moved) == (12, None, None, {})
    assert (case.what, case.section, case.printed.value) == (TEXT, "7", 2)


def test_what_is_not_comparable_or_not_known_has_no_truth_and_an_input_follows_from_nothing():
    assert of_deployment(scenario_row(), comparable=False).truth is None
    assert of_deployment(scenario_row(), knows=False).truth is None
    assert of_deployment(scenario_row(truth="models/m/c"), comparable=False).truth is (
        TRUTHS["models/m/c"])
    assert of_deployment(scenario_row(), quantity="given_one").truth.given
    row = scenario_row(bound="at_least", note=TEXT)
    case = of_deployment(row, bound="at_most", note=OTHER)
    assert (case.bound, case.note) == ("at_least", TEXT)
    case = of_deployment(scenario_row(), bound="at_most", note=OTHER)
    assert (case.bound, case.note) == ("at_most", OTHER)


def test_a_deployment_s_number_is_tried_on_sources_and_a_step_on_its_own_inputs():
    case = of_deployment(scenario_row(sourced={"a": "devices/d/a"}))
    assert (case.own, case.resourced, case.moved) == (12, 20, {"a": (3, 5)})
    unused = of_deployment(scenario_row(sourced={"unused": "devices/d/a"}))
    assert (unused.resourced, unused.moved) == (None, {})
    step = scenario_row(formula=["add", "a", "n"], inputs={"a": "30", "n": "1"},
                        sourced={"a": "devices/d/a"})
    case = of_deployment(step)
    assert (case.own, case.resourced, case.moved) == (31, 6, {"a": (30, 5)})
    assert of_deployment(scenario_row(), formula=None).own == 12


@pytest.mark.parametrize(("named", "given", "fits"), [
    ("small", None, True), ("big", None, False), ("big", truth(1.0, scenario="small"), False),
    (None, None, None), (None, truth(1.0), None),
    (None, truth(1.0, scenario="big", unit="B"), None),
    *((None, truth(1.0, scenario="big", unit=unit), False)
      for unit in ("s", "token/s", "request/s", "request", "USD")),
    (None, truth(1.0, scenario="small", unit="s"), True)])
def test_whether_what_a_claim_is_of_can_exist(monkeypatch, named, given, fits):
    monkeypatch.setattr(cases, "deployment", lambda name: Made(fits=name == "small"))
    assert _fits(named, given) is fits


@pytest.mark.parametrize(("named", "measured", "software", "ran"), [
    (None, None, None, False), ("plan", None, "cann", False), ("plan", "rows", "cann", True)])
def test_a_setting_is_asked_for_the_card_of_its_deployment(monkeypatch, named, measured, software,
                                                           ran):
    asked = []
    monkeypatch.setattr(cases, "ruling", lambda *given: asked.append(given))
    monkeypatch.setattr(cases, "deployment", lambda name: Made(fits=True, scenario=Made(
        device=Made(software="cann"), file=Made(measured=measured))))
    setting = {"program": "vLLM", "engine": "vllm", "name": "x", "value": 1}
    row = claim(printed=1, setting=setting, deployment=named)
    of(row).of(listed(row))
    assert asked == [(row.setting, "S1-005", "s1", "1", software, ran)]
    plain = claim(**GIVEN)
    assert of(plain).of(listed(plain)).ruling is None
    assert len(asked) == 1


def test_letters_are_the_file_s_own_then_the_document_s_then_their_names():
    own = Letter(latex="y", unit="B", en="own", zh="自")
    found = _letters(Listed(None, "s1", "here:1", {"tensor_parallel": own}),
                     {"tensor_parallel": "1", "expert_parallel": "1", "my_own_name": "GB"})
    assert found["tensor_parallel"] is own
    assert found["expert_parallel"] == catalogue.symbols()["expert_parallel"]
    assert (found["my_own_name"].en, found["my_own_name"].zh, found["my_own_name"].unit) == (
        "my own name", "my own name", "GB")
    document = catalogue.load("formulas", "s1").symbols
    name = sorted(document)[0]
    assert _letters(Listed(None, "s1", "x", {}), {name: "1"})[name] == document[name]
    assert _letters(Listed(None, "s9", "x", {}), {name: "1"})[name].en == name.replace("_", " ")
