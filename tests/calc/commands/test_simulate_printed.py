"""What ``simulate`` prints of a run that is written down here: each number in its place."""

from dataclasses import replace
from types import SimpleNamespace as Made

import pytest
from _options import lines_of

import catalogue
from calc.commands import simulate as command
from calc.serving.metrics import Latency, Summary
from catalogue import ParamsError


def latency(mean, half=0.0):
    return Latency(mean, half, mean / 2, mean * 2, mean * 4)


SUMMARY = Summary(
    requests=1234, begin=10.0, window=600.0, steady=True, wait=latency(0.5, 0.1), ttft=latency(1.0),
    tpot=latency(0.05, 0.001), e2e=latency(20.0, 3.0), request_throughput=2.0,
    output_throughput=400.0, goodput=1.5, good=0.751, concurrency=40.0,
    utilisation={"prefill": 0.25, "decode": 0.753}, preemptions=0, input_tokens=3000.0,
    hit_share=0.333, evicted=12345)
ANSWER = {"workload": {"rate": 2.0, "seed": 3, "lengths": {"distribution": "listed"}},
          "reasons": [], "good": 0.751, "prefixes_simulated": True, "saturation_rate": 4.5,
          "saturation_from": "simulation", "bounded": True, "settled": True, "together": 1}


def test_a_whole_answer(capsys, monkeypatch):
    """Of what is exact no half width is told: only rounding is left of it."""
    monkeypatch.setenv("COLUMNS", "200")
    command._print(catalogue.load_scenario("h200-r1-vllm-tp8"), ANSWER, SUMMARY)
    lines = lines_of(capsys.readouterr().out)
    assert lines[0].endswith(": 2 request/s, 1234 requests counted over 600 s, seed 3.")
    assert lines[2:] == [
        "Lengths of requests: those of the file.",
        "time | mean | 95% of the mean | p50 | p90 | p99",
        "wait | 500 ms | ± 100 ms | 250 ms | 1 s | 2 s", "ttft | 1 s |  | 500 ms | 2 s | 4 s",
        "tpot | 50 ms | ± 1 ms | 25 ms | 100 ms | 200 ms",
        "e2e | 20 s | ± 3 s | 10 s | 40 s | 80 s",
        "throughput: 2 request/s, 400 token/s of answers",
        "in the system: 40 requests on average",
        "goodput: 1.5 request/s, 75.1% of the requests meet the objective",
        "utilisation of the replicas that prefill: 25.0%",
        "utilisation of the replicas that decode: 75.3%",
        "prefix cache: 33.3% of the prompt tokens found, of 3,000 per prompt on average; 12,345 "
        "blocks evicted",
        "saturation: 4.5 request/s (simulation, with this share found)"]


def test_users_in_place_of_a_rate_and_times_that_nothing_has(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    asked = ANSWER | {"workload": {"users": 7, "ramp": 0.0, "seed": 0, "lengths": {
        "distribution": "listed"}}}
    nothing = replace(SUMMARY, tpot=latency(float("nan")), ttft=latency(1.0, 1e-12))
    command._print(catalogue.load_scenario("h200-r1-vllm-tp8"), asked, nothing)
    lines = lines_of(capsys.readouterr().out)
    assert ": 7 users, 1234 requests" in lines[0]
    assert lines[2].endswith(" Users begin all at once.")
    assert [line.partition(" |")[0] for line in lines[4:7]] == ["wait", "ttft", "e2e"]
    assert lines[5] == "ttft | 1 s |  | 500 ms | 2 s | 4 s"


def test_what_was_not_asked_is_not_told():
    bare = ANSWER | {"good": None, "prefixes_simulated": False, "saturation_from": "closed form"}
    lines = command._numbers(bare, SUMMARY)
    assert not any(line.startswith(("goodput", "prefix")) for line in lines)
    assert lines[-1] == "saturation: 4.5 request/s (closed form)"


@pytest.mark.parametrize(("answer", "summary", "begins"), [
    ({}, {}, []), ({"bounded": False}, {}, ["The queue grows without end"]),
    ({"settled": False}, {"steady": False}, ["The run is too short"]),
    ({"settled": False}, {}, ["What is counted lasts 600 s, a request 20 s"]),
    ({"together": 8, "saturation_from": "closed form"}, {}, ["8 ranks step together"]),
    ({"together": 1, "saturation_from": "closed form"}, {}, []), ({"together": 8}, {}, []),
    ({}, {"preemptions": 7}, ["preemptions: 7"])])
def test_what_the_numbers_should_not_be_taken_for(answer, summary, begins):
    lines = command._doubts(ANSWER | answer, replace(SUMMARY, **summary))
    assert len(lines) == len(begins)
    assert all(line.startswith(begin) for line, begin in zip(lines, begins, strict=True))


def test_when_users_begin():
    assert command._begin({}) == ""
    assert command._begin({"users": 4, "ramp": 2.0}) == (
        " Users begin at any moment of the first 2 s.")


def given(**texts):
    names = ("rate", "users", "duration", "requests", "think_time", "ramp", "prefix_tokens",
             "prefix_groups", "turns", "ttft", "tpot", "max_num_seqs", "seed")
    return command._arguments(Made(**(dict.fromkeys(names) | {
        "begin": None, "think_time": "0 s", "seed": "0"} | texts)))


def test_what_is_simulated_unless_told():
    """A thousand requests, or eight of each user."""
    found = given(rate="2")
    assert (found["requests"], found["ttft"], found["tpot"]) == (1000, float("inf"), float("inf"))
    assert given(users="125")["requests"] == 1000
    assert given(users="126")["requests"] == 1008
    assert given(users="126", duration="5 min")["requests"] is None
    assert given(users="3", requests="7", ramp="2 s")["ramp"] == 2.0


@pytest.mark.parametrize("texts", [
    {"rate": "-1"}, {"rate": "2e9"}, {"users": "0"}, {"users": "1.5"}, {"rate": "2 GB"},
    {"users": "2", "begin": "spread", "ramp": "2 s"}, {"rate": "2", "ramp": "2 s"},
    {"rate": "2", "begin": "together"}, {"rate": "2", "seed": "-1"}])
def test_what_cannot_be_simulated(texts):
    with pytest.raises(ParamsError):
        given(**texts)


@pytest.mark.parametrize(("count", "tokens", "runs"), [
    (100_000, 1000, True), (100_001, 1000, False), (50_000, 2000, True), (50_001, 2000, False),
    (100_000, 0, True)])
def test_a_run_has_no_more_requests_or_tokens_than_can_be_waited_for(count, tokens, runs):
    if runs:
        command._check_size(count, tokens)
    else:
        with pytest.raises(ParamsError):
            command._check_size(count, tokens)
