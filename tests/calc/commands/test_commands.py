"""Commands besides estimate: simulate, validate, calibrate; and what a scenario may state."""

import json

import pytest

import catalogue
from calc.evidence import validation
from catalogue.deployments.layout import mechanism_units
from catalogue.deployments.loading import DEALT_PROMPTS
from catalogue.entries.formulas import switches

UNITS = mechanism_units()


@pytest.fixture
def mechanism(tmp_path):
    """A scenario file with one line of mechanisms."""
    def write(line):
        text = (catalogue.ROOT / "templates" / "scenario.yml").read_text(encoding="utf-8")
        path = tmp_path / "mine.yml"
        path.write_text(f"{text}\nmechanisms:\n  {line}\n", encoding="utf-8")
        return str(path), len(text.splitlines()) + 3

    return write


@pytest.mark.parametrize(("line", "says"), [
    ("kernel_boundry: 2 us", "did you mean 'kernel_boundary'"),
    ("kernel_boundary: 2 GB", "wrong unit for 'kernel_boundary', expected a quantity in s"),
    ("micro_batches: 3", "expected 1 or 2"), ("micro_batches: 2 us", "expected a plain number"),
    ("routing_skew: -1", "out of range"), ("mla_efficiency: 1.5", "expected at most 1"),
    ("mla_efficiency: 0", "expected more than 0"), ("separate_pools: 0.5", "expected 0 or 1"),
    ("gemm_efficiency.bf17: 0.5", "did you mean 'gemm_efficiency.bf16'"),
])
def test_a_mechanism_that_cannot_be_is_one_sentence_with_its_line(cli, mechanism, line, says):
    path, number = mechanism(line)
    code, _, err = cli("estimate", path)
    assert code == 2
    assert says in err
    assert err.startswith(f"{path}:{number}: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("line", [
    "kernel_boundary: 2 us", "gemm_efficiency.bf16: 0.5", "exchange_alpha: 20 us",
    "host_overlap: 0.5",
    *(f"{name}: 1 {UNITS[name].unit}".removesuffix(" 1") for name in switches()
      if name != DEALT_PROMPTS)])  # for a model with an indexer, which the template has not
def test_every_mechanism_may_be_stated(cli, mechanism, line):
    path, _ = mechanism(line)
    assert cli("estimate", path, "--json")[::2] == (0, "")


def test_links_that_do_not_reach_are_refused(cli, tmp_path):
    node = (catalogue.ROOT / "nodes" / "atlas-800t-a2.yml").read_text(encoding="utf-8")
    start = node.index("devices_per_node:")
    (tmp_path / "node.yml").write_text(
        node[:start] + node[start:].replace("value: 8", "value: 16", 1), encoding="utf-8")
    text = (catalogue.ROOT / "templates" / "scenario.yml").read_text(encoding="utf-8")
    path = tmp_path / "mine.yml"
    path.write_text(text.replace("node: atlas-800t-a2", "node: node.yml").replace(
        "nodes: 2", "nodes: 1"), encoding="utf-8")
    code, _, err = cli("estimate", str(path))
    assert code == 2
    assert "with 7 links of 'hccs-910b' (full-mesh) a device reaches only 7 others" in err


def test_a_simulation_as_json(cli):
    args = ("simulate", "s2-910b1-awq", "--rate", "0.5", "--requests", "400", "--ttft", "1 s",
            "--tpot", "100 ms", "--json")
    code, out, err = cli(*args)
    answer = json.loads(out)
    assert (code, err) == (0, "")
    assert answer["steady"]
    assert 200 < answer["requests"] < 400
    assert answer["ttft"]["p50"] <= answer["ttft"]["p90"] <= answer["ttft"]["p99"]
    assert 0 <= answer["good"] <= 1
    assert answer["goodput"] <= answer["saturation_rate"]
    assert answer["saturation_from"] == "simulation"
    assert answer["bounded"] is True
    assert cli(*args)[1] == out
    assert cli(*args, "--seed", "1")[1] != out


def test_a_simulation_beyond_saturation_says_so(cli):
    _, out, _ = cli("simulate", "kt-4090-v021", "--rate", "1", "--requests", "300")
    assert "The queue grows without end" in out
    assert "saturation" in out


def test_a_duration_ends_the_arrivals(cli):
    for asked in (("--rate", "0.5"), ("--users", "4", "--think-time", "10 s")):
        _, out, _ = cli("simulate", "s2-910b1-awq", *asked, "--duration", "20 min", "--json")
        answer = json.loads(out)
        assert answer["begin"] + answer["window"] <= 1200
        assert answer["requests"] > 10


def test_a_simulation_says_what_was_asked_of_it(cli):
    asked = ("simulate", "s2-910b1-awq", "--users", "8", "--requests", "160", "--json")
    usual, equal = (json.loads(cli(*asked, *more)[1]) for more in (
        (), ("--begin", "together", "--lengths", "constant", "--seed", "3")))
    for name, value in (("arrivals", "closed-loop"), ("users", 8), ("seed", 0)):
        assert usual["workload"][name] == value
    assert usual["workload"]["lengths"] == {
        "distribution": "lognormal", "prompts": 0.96, "answers": 0.77, "stated": False}
    assert usual["workload"]["ramp"] > 0 == equal["workload"]["ramp"]
    assert (equal["workload"]["lengths"]["distribution"], equal["workload"]["seed"]) == (
        "constant", 3)
    for found in (usual, equal):
        assert found["steady"]
        assert found["concurrency"] == pytest.approx(8, rel=1e-3)
        assert found["request_throughput"] * found["e2e"]["mean"] == pytest.approx(8, rel=0.15)
        low, high = found["ttft"]["intervals"]["p50"]
        assert low <= found["ttft"]["p50"] <= high


@pytest.mark.parametrize(("arguments", "message"), [
    (("--rate", "1", "--begin", "together"), "expected --users"),
    (("--users", "2", "--begin", "spread", "--ramp", "5 s"), "expected one of them")])
def test_when_users_begin_is_said_once_and_of_users(cli, arguments, message):
    code, _, err = cli("simulate", "s2-910b1-awq", *arguments)
    assert (code != 0, err.count("\n")) == (True, 1)
    assert message in err


SHORT = ("simulate", "s2-910b1-awq", "--rate", "0.1", "--requests", "60")


def test_a_run_shorter_than_its_requests_says_so(cli):
    beginning = cli("simulate", "s2-910b1-awq", "--rate", "2", "--requests", "40")[1]
    assert "too short for a steady state" in " ".join(beginning.split())
    for text in ("too short for a steady state", "hang on where it begins"):
        assert text not in " ".join(cli(*SHORT[:-1], "300")[1].split())


def test_ranks_that_share_experts_step_together(cli):
    assert json.loads(cli(*SHORT, "--json")[1])["together"] == 1
    asked = ("simulate", "h200-v32-vllm-dp8", "--rate", "2", "--requests", "100", "--set",
             "workload.output_tokens=50 token", "--max-num-seqs", "32", "--json")
    found = {way: json.loads(cli(*asked, "--prefill-coordination", way)[1])
             for way in ("eager", "delay")}
    assert found["eager"]["together"] == 8
    assert found["delay"]["tpot"]["mean"] < found["eager"]["tpot"]["mean"]
    assert found["delay"]["wait"]["mean"] > found["eager"]["wait"]["mean"]


def test_lengths_of_a_distribution_or_a_file(cli, tmp_path):
    equal, unequal = (json.loads(cli(*SHORT, "--json", *more)[1])["e2e"]
                      for more in (("--lengths", "constant"), ()))
    assert unequal["p99"] / unequal["p50"] > 2 * equal["p99"] / equal["p50"]
    file = tmp_path / "lengths.csv"
    file.write_text("input_tokens,output_tokens\n100,50\n2000,300\n", encoding="utf-8")
    assert json.loads(cli(*SHORT, "--json", "--lengths", str(file))[1])["e2e"]["p50"] > 0


@pytest.mark.parametrize(("arguments", "message"), [
    (("--lengths", "lognormal"), "only with it"),
    (("--lengths", "lognormal", "--variation", "-1"), "more than 0"),
    (("--lengths", "no-such"), "there is no such file")])
def test_lengths_that_cannot_be_used_are_told(cli, arguments, message):
    code, _, err = cli(*SHORT, *arguments)
    assert code != 0
    assert message in err
    assert err.count("\n") == 1


LONGER = ("simulate", "s2-910b1-awq", "--requests", "60", "--lengths", "constant", "--set",
          "workload.input_tokens=1024")


def test_a_hit_share_comes_out(cli):
    one, many, none = (json.loads(cli(*LONGER, "--rate", "0.2", "--json", *more)[1]) for more in (
        ("--prefix-tokens", "512"), ("--prefix-tokens", "512", "--prefix-groups", "8"), ()))
    assert one["hit_share"] == 0.5 > many["hit_share"] > none["hit_share"] == 0
    assert one["saturation_rate"] > none["saturation_rate"]
    assert one["evicted"] == 0
    assert one["ttft"]["mean"] < none["ttft"]["mean"]
    printed = " ".join(cli(*LONGER, "--rate", "0.2", "--prefix-tokens", "512")[1].split())
    assert "prefix cache: 50.0% of the prompt tokens found, of 1,024 per prompt" in printed
    assert "0 blocks evicted" in printed
    assert "prefix cache" not in cli(*LONGER, "--rate", "0.2")[1]


def test_turns_of_a_conversation_find_those_before(cli):
    few, more = (json.loads(cli(*LONGER, "--users", "2", "--json", "--turns", turns)[1])
                 for turns in ("2", "5"))
    assert 0.3 < few["hit_share"] < more["hit_share"] < 1
    assert few["input_tokens"] < more["input_tokens"]


@pytest.mark.parametrize(("arguments", "message"), [
    (("--rate", "1", "--prefix-groups", "4"), "expected --prefix-tokens as well"),
    (("--rate", "1", "--prefix-tokens", "1025"), "a prompt has 1,024 tokens"),
    (("--rate", "1", "--turns", "2"), "expected --users"),
    (("--users", "1", "--turns", "1000"), "of prompt and answer")])
def test_prefixes_that_cannot_be_are_told(cli, arguments, message):
    code, _, err = cli(*LONGER, *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_a_share_is_stated_or_simulated(cli, mechanism):
    path, _ = mechanism("prefix_hit_share: 0.5")
    code, _, err = cli("simulate", path, "--rate", "1", "--prefix-tokens", "10")
    assert code == 2
    assert "states a prefix_hit_share of 0.5" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("line", "number"), [("-5,3", 2), ("5", 2), ("5,x", 2), ("0,3", 2)])
def test_a_line_of_lengths_that_is_no_request_is_told(cli, tmp_path, line, number):
    file = tmp_path / "lengths.csv"
    file.write_text(f"100,50\n{line}\n", encoding="utf-8")
    code, _, err = cli(*SHORT, "--lengths", str(file))
    assert code != 0
    assert f"lengths.csv:{number}: '{line}' is no request" in err


def test_one_user_alone_waits_as_the_closed_form_says(cli):
    settings = ("--set", "workload.concurrency=1")
    simulated = json.loads(cli("simulate", "s2-910b1-awq", "--users", "1", "--requests", "5",
                               "--json", *settings)[1])
    closed = json.loads(cli("estimate", "s2-910b1-awq", "--json", *settings)[1])["quantities"]
    for name in ("ttft", "tpot", "e2e"):
        assert simulated[name]["mean"] == pytest.approx(closed[name]["central"], rel=0.1), name


@pytest.fixture
def few_results(monkeypatch):
    """A validation of two systems: all of them take a minute."""
    kept = ("s3-eight-cards", "s2-other-engine")
    every = validation.measured_systems()
    monkeypatch.setattr(validation, "measured_systems",
                        lambda: [one for one in every if one.id in kept])
    monkeypatch.setattr(validation, "calibrated_results", lambda *chosen: iter(()))
    return kept


def test_validation(cli, few_results):
    code, out, _ = cli("validate", "--json")
    assert code == 0
    assert {row["system"] for row in json.loads(out)["results"]} == set(few_results)
    assert cli("validate", "--json")[1] == out
    code, out, _ = cli("validate", "--system", "s2-other-engine", "--metric", "tpot")
    assert code == 0
    header, line = out.splitlines()
    assert header.split()[:3] == ["system", "metric", "protocol"]
    assert line.split()[:3] == ["s2-other-engine", "tpot", "uncalibrated"]
    assert "(row " in line


def test_a_calibration_is_fitted_and_stored(cli, tmp_path):
    shipped = catalogue.ROOT / "calibrations" / "s2-other-engine-tpot.yml"
    own = tmp_path / "mine.yml"
    text = shipped.read_text(encoding="utf-8").partition("\nfitted:")[0] + "\n# a comment\n"
    own.write_text(text, encoding="utf-8")
    code, out, _ = cli("calibrate", str(own), "--json")
    fitted = json.loads(out)
    assert code == 0
    assert own.read_text(encoding="utf-8") == text
    assert len(fitted["covariance"]) == len(fitted["values"]) == len(fitted["ranges"])
    for name, (low, high) in fitted["ranges"].items():
        assert low < fitted["values"][name] < high
    assert cli("calibrate", str(own), "--write")[0] == 0
    stored = own.read_text(encoding="utf-8")
    assert stored.startswith(text)
    assert cli("check", str(own))[::2] == (0, "")
    assert cli("calibrate", str(own), "--write")[0] == 0
    assert own.read_text(encoding="utf-8") == stored
    code, out, _ = cli("estimate", "s2-other-engine", "--calibration", str(own))
    assert code == 0
    assert "Calibrated to time per output token" in out


def test_a_calibration_that_is_not_fitted_says_how(cli, tmp_path):
    shipped = catalogue.ROOT / "calibrations" / "s2-other-engine-tpot.yml"
    own = tmp_path / "mine.yml"
    own.write_text(shipped.read_text(encoding="utf-8").partition("\nfitted:")[0] + "\n",
                   encoding="utf-8")
    code, _, err = cli("estimate", "s2-other-engine", "--calibration", str(own))
    assert code == 2
    assert "run python -m calc calibrate mine --write" in err
