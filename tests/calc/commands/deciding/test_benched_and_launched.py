"""What is made of a bench's results and told of what was launched, of numbers written down here."""

from pathlib import Path
from types import SimpleNamespace as Made

import pytest
from _options import printed

from calc.commands.deciding import benched, deploy
from calc.evidence.benched import Measured, Results
from calc.uncertainty.amount import Amount
from catalogue.entries.calibrations import Fitted


def run(name="one", *, concurrency=4.0, requests=100.0, answered=100.0, prompts=200.0, spread=0.0,
        **values):
    asked = {"concurrency": concurrency, "input_tokens": 200.0, "output_tokens": 50.0,
             "requests": requests}
    counted = {"input_tokens": prompts, "output_tokens": 50.0, "requests": answered}
    expected = {"ttft": (0.5, 0.4, 0.6), "tpot": (0.05, 0.04, 0.06)}
    return Measured(name, asked, counted, values, expected, spread, 0.0, None,
                    {"tpot": 0.1, "ttft": 0.1})


def results(*runs, missing=()):
    return Results(Path("mine/bench/plan.json"), "mine", (), "vllm@1", runs, missing)


ALIKE = [run(f"run {at}", ttft=0.5, tpot=0.05) for at in range(2)]


def test_measured_beside_predicted():
    """Below or above its interval; told of a run once; as the others where enough of them tell."""
    lines = printed(lambda screen: screen.print(benched._table(results(
        *ALIKE, run("low", tpot=0.0399), run("high", ttft=0.61, tpot=0.06)))))
    assert lines[0] == "mine, vllm@1"
    assert [line.split(" | ") for line in lines[2:]] == [
        ["run 0", "time to first token", "500 ms", "400 ms – 600 ms", "500 ms", "yes", "yes"],
        ["", "time per output token", "50 ms", "40 ms – 60 ms", "50 ms", "yes", "yes"],
        ["run 1", "time to first token", "500 ms", "400 ms – 600 ms", "500 ms", "yes", "yes"],
        ["", "time per output token", "50 ms", "40 ms – 60 ms", "50 ms", "yes", "yes"],
        ["low", "time per output token", "50 ms", "40 ms – 60 ms", "39.9 ms", "below", "no"],
        ["high", "time to first token", "500 ms", "400 ms – 600 ms", "610 ms", "above", "no"],
        ["", "time per output token", "50 ms", "40 ms – 60 ms", "60 ms", "yes", "no"]]


def test_of_few_runs_none_is_held_against_the_others():
    lines = printed(lambda screen: screen.print(benched._table(results(run(tpot=0.05)))))
    assert lines[-1].endswith("| 50 ms | yes | ")


FITTED = Fitted(values={"host_sync": 2e-5}, coordinates=[0.5], covariance=[[1.0]], noise=0.01,
                rows=3, extent={"concurrency": (1, 4)})


def test_what_is_told_of_results():
    found = results(*ALIKE, run("short", answered=1234.0, requests=2345.0, prompts=230.0,
                                tpot=0.09), missing=("half", "one"))
    assert benched._lines(found, None, None) == [
        "4 of 5 measured values lie inside of their 80% intervals.",
        "2 of 3 are as far from what is predicted as the other runs are, within what rows of one "
        "system scatter (80%).", "short: 1,234 of 2,345 requests were answered.",
        "short: prompts of 230 tokens on average, 200 were asked for and predicted.",
        "Not measured: half, one.",
        "--write stores what was measured, and a calibration to it."]
    stored = benched._lines(results(run(tpot=0.05)), Path("mine/calibration"), FITTED)
    assert len(stored) == 4
    assert "measured.yml, scenario.yml" in stored[1]
    assert stored[2].startswith("Fitted to 3 rows: ")
    assert "20 µs" in stored[2]
    assert stored[3] == ("python -m calc estimate mine/calibration/scenario.yml --calibration "
                         "mine/calibration/calibration.yml")
    assert benched._lines(results(run(tpot=0.05)), Path("x"), None)[-1].startswith(
        "Nothing is fitted")


def test_results_as_data():
    found = benched._data(results(run(tpot=0.061), missing=("half",)), FITTED)
    assert found["rows"] == [{"run": "one", "metric": "tpot", "measured": 0.061, "predicted": 0.05,
                              "low": 0.04, "high": 0.06, "inside": False, "agrees": None}]
    assert (found["inside"], found["of"], found["missing"], found["remarks"]) == (
        0, 1, ["half"], [])
    assert found["fitted"]["rows"] == 3
    assert benched._data(results(), None)["fitted"] is None


def test_rows_of_a_table_of_ones_own():
    """What the client counted, else what was asked; six digits; none where nothing was measured."""
    rows = [run(tpot=0.0512345678, prompts=200.1234567),
            run(spread=0.5, concurrency=100.0, ttft=0.5), run(concurrency=99.0, tpot=0.05)]
    made = benched._measurements(results(*rows), rows)
    assert list(made["columns"]) == ["concurrency", "input_tokens", "output_tokens", "requests",
                                     "ttft", "tpot", "output_throughput"]
    assert made["rows"][0] == [4.0, 200.123, 50.0, 100.0, None, 0.0512346, None]
    assert made["rows"][1] == [100.0, 200.0, 50.0, 100.0, 0.5, None, None]
    assert made["unequal"] == [2]
    assert made["limited_by_client"] == [1, 3]
    plain = benched._measurements(results(rows[1]), [run(concurrency=100.0)])
    assert "unequal" not in plain
    assert "limited_by_client" not in plain


@pytest.mark.parametrize(("name", "is_one"), [
    ("results", True), ("results/one.json", True), ("one.txt", False), ("none.json", False)])
def test_results_are_a_folder_or_a_file_of_a_bench(tmp_path, monkeypatch, name, is_one):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    for file in ("results/one.json", "one.txt"):
        (tmp_path / file).write_text("{}")
    assert benched.is_results(name) is is_one


# --- launched -------------------------------------------------------------------------------------


def watched(role="serve", promised=2, refused=0.0, broken=()):
    alerts = [Made(windows=at < promised) for at in range(3)]
    pool = Made(name=role, role=role, longest=Made(tokens=12345, refused=refused),
                layout=Made(nodes=2), release="vllm@1")
    told = Made(ttft=Amount(0.5, 0.4, 0.6, "s"), requests=Amount.exactly(2.0, "request/s"),
                tpot=Amount.exactly(0.05, "s"), throughput=Amount.exactly(400.0, "token/s"))
    return Made(pool=pool, alerts=alerts, broken=broken, predicted=told)


def test_what_is_watched():
    assert deploy._watching(watched()) == [
        "    3 alerts, 2 on the limits of the service, the others on the prediction",
        "    requests of at most 12,345 tokens"]
    broken = Made(sentence="TTFT is more.", quantity="ttft", alert=Made(threshold=1.0), value=2.0,
                  share=0.9)
    found = deploy._watching(watched(promised=0, refused=0.0123, broken=[broken, broken]))
    assert found[0].startswith("    3 alerts, all on the prediction: no limits are stated")
    assert found[1:] == ["    not kept by the prediction: TTFT is more.",
                         "    requests of at most 12,345 tokens; 0.012 of them are longer and "
                         "refused"]


@pytest.mark.parametrize(("role", "told"), [
    ("serve", "TTFT 500 ms (80%: 400–600 ms); TPOT 50 ms; 400 token/s"),
    ("prefill", "TTFT 500 ms (80%: 400–600 ms); 2 request/s"),
    ("decode", "TPOT 50 ms; 400 token/s")])
def test_each_pool_is_told_what_it_does(role, told):
    pool = watched(role)
    made = Made(pools=[pool.pool, pool.pool], watched=[pool])
    lines = deploy._lines(made, Path("out"), 7)
    assert lines[0] == "out: 7 files for 4 nodes, vllm@1."
    assert lines[1] == f"{role}: {told}."
    assert lines[-2:] == [
        "Set MODEL in out/cluster.env, then run nodes/*.sh on their nodes.",
        "To measure: out/bench/run.sh; then python -m calc calibrate out/bench/results"]
    pool.pool.layout.nodes = 1
    assert deploy._lines(Made(pools=[pool.pool], watched=[]), Path("out"), 7)[0] == (
        "out: 7 files for 1 node, vllm@1.")
