"""What commands that hold numbers against evidence write and refuse."""

import json
from collections import Counter
from datetime import date
from types import SimpleNamespace as Made

import pytest
from _options import lines_of
from _plain import plain

from calc.commands.evidence import audit, calibrate, discrepancy, kernels, stale, validate
from catalogue import ParamsError
from catalogue.entries.calibrations import Covered, Fitted, Growth, LeftOut, OwnError

# --- a calibration's file -------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "text"), [
    (0.5, "0.5"), (1.0, "1"), (1e-5, "1.0e-05"), (1.25e-7, "1.25e-07"), (1234567.0, "1.23457e+06"),
    (2e6, "2.0e+06"), (-3e-9, "-3.0e-09"), (0.0, "0")])
def test_a_number_is_written_as_yaml_reads_it(number, text):
    assert calibrate._number(number) == text


FITTED = Fitted(values={"host_sync": 2e-5, "hbm_efficiency": 0.75}, coordinates=[1.3, -0.25],
                covariance=[[1.0, 0.25], [0.25, 0.125]], noise=0.0123, rows=3,
                extent={"concurrency": (1, 64), "input_tokens": (100, 2000)})


def test_what_was_fitted_before_is_taken_out_wherever_it_stands():
    old = "name: a\nfitted:\n  values: {x: 1}\n\n  covariance:\n    - [1]\nafter: b  # kept\n"
    found = calibrate.with_fitted(old, FITTED)
    assert found.startswith("name: a\nafter: b  # kept\nfitted:\n  values: {host_sync: 2.0e-05, ")
    assert calibrate.with_fitted(found, FITTED) == found
    assert calibrate.with_fitted("name: a", FITTED).startswith("name: a\nfitted:\n")
    assert found.endswith("""\
  coordinates: [1.3, -0.25]
  covariance:
    - [1, 0.25]
    - [0.25, 0.125]
  noise: 0.0123
  rows: 3
  extent: {concurrency: [1, 64], input_tokens: [100, 2000]}
""")


def test_a_fit_is_told_with_its_ranges_and_what_lies_beyond_its_prior(capsys, monkeypatch):
    """1.3 deviations are beyond the end of an 80% range, -1.28 are not."""
    monkeypatch.setenv("COLUMNS", "240")
    chosen = Made(name={"en": "A fit", "zh": "拟合"}, metric="tpot")
    calibrate._print_fit(chosen, FITTED, {"host_sync": [1e-5, 3e-5], "hbm_efficiency": [0.7, 0.8]})
    lines = lines_of(capsys.readouterr().out)
    assert lines[0] == "A fit: tpot, 3 rows"
    assert [line.split(" | ") for line in lines[2:4]] == [
        ["host_sync", "20 µs", "10 µs – 30 µs", "1.300", "1  0.25"],
        ["hbm_efficiency", "0.75", "0.7 – 0.8", "−0.250", "0.25  0.125"]]
    assert lines[4:] == [
        "residuals: 1.23% (standard deviation of the logarithm)",
        "outside its prior's range: host_sync",
        "fitted to: concurrency 1 to 64; input tokens 100 to 2000"]
    within = FITTED.model_copy(update={"coordinates": (1.28, -1.28)})
    calibrate._print_fit(chosen, within, {"host_sync": [1e-5, 3e-5], "hbm_efficiency": [0.7, 0.8]})
    assert "outside" not in capsys.readouterr().out
    under = FITTED.model_copy(update={"coordinates": (1.28, -1.29)})
    calibrate._print_fit(chosen, under, {"host_sync": [1e-5, 3e-5], "hbm_efficiency": [0.7, 0.8]})
    assert "range: hbm_efficiency" in capsys.readouterr().out


# --- the formulas' own error ----------------------------------------------------------------------

OWN = OwnError(down=0.125, up=0.25, within=0.0625, systems=2, rows=8, inside=6)


def test_estimates_are_written_so_that_they_are_read_again():
    growth = Growth(down=0.5, up=0.75, systems=3, pairs=9, inside=0.875, without={"x": (0.1, 0.2)})
    made = Made(classes={"all": {"tpot": OWN}}, left_out={"mine": LeftOut(
        of="all", deviation={"queued": {"tpot": (0.2, 0.4)}})},
        growth={"queued": {"tpot": growth}},
        measured={"mine": Covered.model_construct(of="all", low=1.5)})
    text = discrepancy.with_estimates("borrowed: 2\nclasses:\n  old: 1\n", made)
    assert text.count("classes:") == 1
    found = plain(text)
    assert found["borrowed"] == 2
    assert found["classes"] == {"all": {"tpot": OWN.model_dump()}}
    assert found["left_out"] == {"mine": {"of": "all", "deviation": {
        "queued": {"tpot": [0.2, 0.4]}}}}
    assert found["growth"] == {"queued": {"tpot": {
        "down": 0.5, "up": 0.75, "systems": 3, "pairs": 9, "inside": 0.875,
        "without": {"x": [0.1, 0.2]}}}}
    assert list(found) == ["borrowed", "classes", "left_out", "growth", "measured"]
    assert discrepancy.with_estimates(text, made) == text


def test_a_line_per_class_and_quantity(capsys):
    discrepancy._print_classes({"all": {"tpot": OWN}}, {("all", "tpot"): 1.5})
    header, line = capsys.readouterr().out.splitlines()
    assert header.split() == ["class", "quantity", "systems", "rows", "below", "above", "within",
                              "inside", "high/low"]
    assert line.split()[-9:] == ["tpot", "2", "8", "0.12", "0.25", "0.06", "6", "(75%)", "1.50"]


def test_where_answers_lie_in_their_ranges(cli, monkeypatch):
    knobs = [{"name": "host_sync", "value": 2.0, "low": 1.0, "high": 5.0, "position": 0.25,
              "shift": -0.034}]
    monkeypatch.setattr(discrepancy, "of_deployment", lambda scenario: {
        "tpot": {"percentile": 0.416, "knobs": knobs}})
    _, out, _ = cli("discrepancy", "--leaning", "s2-910b1-awq")
    assert out == "s2-910b1-awq  tpot  42%  host_sync 2 in [1, 5] at 25%: -3.4%\n"


def estimated(cli, monkeypatch, *options):
    """``discrepancy`` with what is estimated written down here."""
    growth = Growth(down=0.5, up=0.754, systems=3, pairs=9, inside=0.875, without={})
    made = Made(classes={"all": {"tpot": OWN}}, width={("all", "tpot"): 1.5},
                growth={"queued": {"tpot": growth}}, left_out={}, measured={})
    monkeypatch.setattr("calc.evidence.error_growth.estimate", lambda systems, borrowed: made)
    monkeypatch.setattr("calc.evidence.validation.measured_systems", list)
    monkeypatch.setattr(discrepancy, "load_words", lambda: {
        "alone": ("alone", "单独"), "queued": ("in a queue", "排队")})
    return cli("discrepancy", *options)


def test_the_own_error_is_told_by_class_and_how_it_grows(cli, monkeypatch):
    code, out, _ = estimated(cli, monkeypatch)
    lines = out.splitlines()
    assert (code, len(lines)) == (0, 3)
    assert lines[2] == (
        "tpot, in a queue: the error grows by 0.50 below and 0.75 above with a doubling beyond "
        "what was measured; 9 pairs of rows of 3 systems, 88% of them in what the other systems "
        "give.")
    answer = json.loads(estimated(cli, monkeypatch, "--json")[1])
    assert answer["classes"] == {"all": {"tpot": OWN.model_dump()}}
    assert answer["growth"]["queued"]["tpot"]["up"] == 0.754
    assert (answer["left_out"], answer["measured"]) == ({}, {})


# --- tables of kernels ----------------------------------------------------------------------------


def part(operator, card, engine, rows):
    return Made(operator=operator, card=card, engine=engine, rows=rows)


@pytest.fixture
def told(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "240")

    def call(action, shelf, **asked):
        args = Made(**({"operator": None, "card": None, "engine": None, "json": False} | asked))
        assert action(args, shelf) == 0
        return lines_of(capsys.readouterr().out)

    return call


def test_tables_are_told_without_saying_twice_what_stands_above(told):
    parts = [part("gemm", "nvidia-h20", "a@1", 1000), part("gemm", "nvidia-h20", "b@1", 7),
             part("gemm", "mine", "a@1", 5), part("mla", "mine", "a@1", 30),
             part("gemm", "nvidia-h20", "a@1", 234)]
    lines = told(kernels._list, Made(root="here", parts=lambda *asked: parts))
    assert lines[0] == "here"
    assert [line.split(" | ") for line in lines[2:6]] == [
        ["gemm", "nvidia-h20", "a@1", "1,234"], ["", "", "b@1", "7"],
        ["", "mine (not in the catalogue)", "a@1", "5"],
        ["mla", "mine (not in the catalogue)", "a@1", "30"]]
    assert lines[6].startswith("1,276 rows of 2 operators")
    one = told(kernels._list, Made(root="here", parts=lambda *asked: [part("gemm", "x", "a", 1)]))
    assert one[-1].startswith("1 row of 1 operator")


def test_what_a_fit_leaves_out_is_counted(told, monkeypatch):
    """Each table of an operator on a card once, of the engine that is asked for or of all."""
    asked = []
    parts = [part("gemm", "x", "a@1", 1), part("gemm", "x", "b@1", 1), part("mla", "x", "a@1", 1)]
    monkeypatch.setattr(kernels, "sound", lambda table: (table[1:], []))
    shelf = Made(root="here", parts=lambda *which: parts,
                 table=lambda *which: asked.append(which) or [0] * 1000)
    assert told(kernels._check, shelf)[-1].startswith("2,000 rows")
    assert asked == [("gemm", "x", ()), ("mla", "x", ())]
    assert "2 " in told(kernels._check, shelf, engine="b")[-1]
    assert asked[-1] == ("mla", "x", "b")
    single = Made(root="here", parts=lambda *which: parts[:1], table=lambda *which: [0])
    assert told(kernels._check, single)[-1].startswith("1 row ")


def test_the_findings_of_most_rows_are_told_first_and_eight_of_a_kind(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "240")
    kind, other, *_ = kernels.KINDS

    def found(rows, of=kind):
        return Made(kind=of, rows=rows, left_out=True, says="odd", operator=f"of {rows}", card="x",
                    engine="a@1", of=5000, examples=("row 3", "row 4"))

    kernels._print_findings([found(rows) for rows in range(995, 1005)] + [found(1, other)])
    lines = lines_of(capsys.readouterr().out)
    assert lines[0].startswith(f"{kind}: 9,995 ")
    assert [line.split()[1] for line in lines[2:10]] == [str(rows) for rows in range(1004, 996, -1)]
    assert "1,004" in lines[2]
    assert "row 3" in lines[2]
    assert "and 2 more" in lines[10]
    assert lines[11].startswith(f"{other}: 1 ")
    kernels._print_findings([found(rows) for rows in range(8)])
    assert "more" not in capsys.readouterr().out


@pytest.mark.parametrize(("asked", "said"), [
    ({"card": "nvidia-h20"}, "--card and --engine"), ({"engine": "a"}, "--card and --engine"),
    ({"card": "x", "engine": "a", "output": "f", "source": "s"}, "--source and --date"),
    ({"card": "x", "engine": "a", "output": "f", "date": "2026"}, "--source and --date"),
    ({"card": "x", "engine": "a"}, "'x' has no file"),
    ({"card": "nvidia-h20", "engine": "a@1"}, "no table of a on nvidia-h20")])
def test_a_fit_that_cannot_be_is_refused(monkeypatch, asked, said):
    monkeypatch.setattr(kernels, "fitted", lambda *which: iter(()))
    usual = dict.fromkeys(("card", "engine", "output", "source", "date", "of"))
    with pytest.raises(ParamsError, match=said):
        kernels._fit(Made(**(usual | asked)), Made(parts=lambda **which: []))


def fitted(operator, cut, *, before=None, missed=None):
    errors = Made(rows=1234, leaning=-0.0123, median=0.0345, most=0.126)
    return Made(release="1.0", operator=operator, cut=cut, kernel="k", dtype="fp8", fit=Made(
        errors=errors, before=before, missed=missed, fitted=99, values={"x": 2.0},
        ranges={"x": (1.0, 3.0)}, regions={64: errors}))


def test_how_far_laws_are_off_by_table(capsys, monkeypatch):
    """Of rows kept apart: median and nine tenths of the size, where it leans, and before."""
    monkeypatch.setenv("COLUMNS", "240")
    kernels._print_fits([fitted("gemm", None), fitted("experts", "sliced", before=Made(
        median=0.5))])
    lines = lines_of(capsys.readouterr().out)
    assert [line.split(" | ") for line in lines[1:]] == [
        ["1.0", "gemm", "fp8", "k", "1,234", "-", "3.5%", "12.6%", "-1.2%"],
        ["1.0", "experts sliced", "fp8", "k", "1,234", "50.0%", "3.5%", "12.6%", "-1.2%"]]


def test_a_fit_as_data():
    found = kernels._as_json(fitted("gemm", None))
    assert found["parameters"] == {"x": {"value": 2.0, "low": 1.0, "high": 3.0}}
    assert (found["fitted"], found["before"], found["missed"]) == (99, None, None)
    assert found["regions"]["64"]["rows"] == found["judged"]["rows"] == 1234
    assert kernels._as_json(fitted("gemm", None, before=Made(median=0.5)))["before"] == {
        "median": 0.5}


# --- what is old ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "days"), [("0", 0), ("365", 365), ("999999", 999_999)])
def test_days_are_a_whole_number(text, days):
    assert stale._days(text) == days


@pytest.mark.parametrize("text", ["1000000", "-1", "1.5", "", "３", "x"])
def test_what_is_no_number_of_days(text):
    with pytest.raises(ParamsError, match="--older"):
        stale._days(text)


def test_a_day_is_the_last_of_what_is_said():
    assert stale._day("2026-02-03") == date(2026, 2, 3)
    assert stale._day("2026-02") == date(2026, 2, 28)
    assert stale._day(None) == date.today()
    with pytest.raises(ParamsError, match=r"--as-of: .*\.$"):
        stale._day("yesterday")


# --- claims and systems ---------------------------------------------------------------------------


def test_claims_that_are_asked_for_meet_all_that_is_said_of_them(capsys, monkeypatch):
    def row(name, document, verdict, cause=None, also=()):
        return Made(id=name, cause=cause, judgement=Made(verdict=verdict, also=also), case=Made(
            listed=Made(document=document)), as_json=lambda: {"id": name})

    rows = [row("A", "s0", "met"), row("B", "s1", "met", "why"), row("C", "s1", "wrong", "why"),
            row("D", "s1", "wrong", None, ["met"])]
    whole = Made(rows=rows, problems=[], counts=dict, contradictions=[], causes=lambda: Counter(
        why=2))
    monkeypatch.setattr("calc.auditing.audit.audit", lambda *given: whole)
    monkeypatch.setattr("calc.auditing.judging.VERDICTS", ("met", "wrong"))

    def asked(**options):
        usual = dict.fromkeys(("document", "verdict", "cause", "claim")) | {
            "csv": False, "json": True, "contradictions": False}
        audit.run(Made(**(usual | options)))
        return [each["id"] for each in json.loads(capsys.readouterr().out)["claims"]]

    assert asked() == ["A", "B", "C", "D"]
    assert asked(document="s1") == ["B", "C", "D"]
    assert asked(verdict="met") == ["A", "B", "D"]
    assert asked(cause="why") == ["B", "C"]
    assert asked(claim="C") == ["C"]
    assert asked(document="s1", verdict="met", cause="why") == ["B"]
    for wrong, said in (({"claim": "E"}, "--claim E"), ({"verdict": "mat"}, "nearest are met"),
                        ({"cause": "wy"}, "nearest are why")):
        with pytest.raises(ParamsError, match=said):
            asked(**wrong)
    with pytest.raises(ParamsError, match="--csv and --json"):
        asked(csv=True)
    whole.problems = ["It is wrong."]
    usual = dict.fromkeys(("document", "verdict", "cause", "claim"))
    assert audit.run(Made(**usual, csv=False, json=False, contradictions=True)) == 2
    assert "It is wrong." in capsys.readouterr().err


@pytest.mark.parametrize(("columns", "said"), [
    (None, "nothing was measured of it"), (("concurrency", "tpot"), "needs the column"),
    (("concurrency", "input_tokens", "output_tokens"), "nothing in it is predicted")])
def test_a_system_of_which_too_little_was_measured(monkeypatch, columns, said):
    made = Made(measured=columns and Made(columns=columns), file=Made(measured="rows.yml"))
    monkeypatch.setattr(validate, "load_scenario", lambda name: made)
    validate._check("mine", ["mine"])
    with pytest.raises(ParamsError, match=said):
        validate._check("mine", ["theirs"])
