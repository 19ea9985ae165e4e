"""``simulate``: what is asked of a run, and laws between its numbers."""

import json

import pytest

AWQ = "s2-910b1-awq"
SHORT = ("--set", "workload.output_tokens=50", "--set", "workload.input_tokens=1024")
EQUAL = ("--lengths", "constant", "--requests", "60")


@pytest.fixture
def simulated(cli):
    def call(*args, name=AWQ):
        code, out, err = cli("simulate", name, *SHORT, "--json", *args)
        assert (code, err) == (0, "")
        return json.loads(out)

    return call


def test_answer_of_a_rate(simulated):
    args = ("--rate", "0.5", "--requests", "300", "--ttft", "1 s", "--tpot", "100 ms")
    found = simulated(*args)
    assert found["steady"]
    assert 150 < found["requests"] < 300
    assert found["ttft"]["p50"] <= found["ttft"]["p90"] <= found["ttft"]["p99"]
    assert 0 <= found["good"] <= 1
    assert found["goodput"] <= found["saturation_rate"]
    assert (found["saturation_from"], found["bounded"], found["together"]) == (
        "simulation", True, 1)
    assert simulated(*args)["ttft"] == found["ttft"] != simulated(*args, "--seed", "1")["ttft"]


def test_queue_beyond_saturation_has_no_bound(simulated):
    rate = simulated("--rate", "1", *EQUAL)["saturation_rate"]
    for asked, bounded in ((("--rate", str(0.9 * rate)), True), (("--users", "64"), True),
                           (("--rate", str(1.1 * rate)), False)):
        assert simulated(*asked, *EQUAL)["bounded"] is bounded


def test_lengths_of_a_distribution_or_a_file(simulated, tmp_path):
    asked = ("--rate", "0.1", "--requests", "60")
    equal, unequal = (simulated(*asked, *more)["e2e"] for more in (("--lengths", "constant"), ()))
    assert unequal["p99"] / unequal["p50"] > 1.5 * equal["p99"] / equal["p50"]
    (tmp_path / "lengths.csv").write_text("input_tokens, output_tokens\n10,7\n\n20 , 1\n33,2\n")
    found = simulated(*asked, "--lengths", str(tmp_path / "lengths.csv"))
    assert found["workload"]["mean_tokens"][:2] == [21, 3]
