"""What ``simulate`` is asked, and what it prints of a run that is written down here."""

import math
from dataclasses import replace
from types import SimpleNamespace as Made

import numpy as np
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


# --- what is asked --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "text", "number"), [
    ("rate", "1e-9", 1e-9), ("rate", "2", 2.0), ("rate", "2 request/s", 2.0), ("rate", "1e9", 1e9),
    ("users", "1", 1), ("requests", "7 request", 7), ("ttft", "0 s", 0.0), ("tpot", "5 ms", 0.005),
    ("turns", "1", 1), ("prefix_groups", "1", 1), ("prefix_tokens", "1 token", 1), ("seed", "0", 0),
    ("max_num_seqs", "1", 1), ("ramp", "2 s", 2.0), ("duration", "0 s", 0.0)])
def test_a_number_that_can_be_asked(name, text, number):
    found = given(**({"users": "3"} if name == "ramp" else {}) | {name: text})[name]
    assert (found, type(found)) == (number, type(number))


@pytest.mark.parametrize(("name", "text", "said"), [
    ("rate", "9e-10", "--rate 9e-10: expected a number of at least 1e-09."),
    ("rate", "1.1e9", "--rate 1.1e9: expected a number of at least 1e-09 and at most 1e\\+09."),
    ("users", "0", "--users 0: expected a whole number of at least 1."),
    ("requests", "0", "at least 1"), ("turns", "0", "at least 1"),
    ("prefix_tokens", "0", "--prefix-tokens 0: "), ("prefix_groups", "0", "at least 1"),
    ("max_num_seqs", "0", "at least 1"), ("seed", "0.5", "a whole number of at least 0 and"),
    ("requests", "1.5", "a whole number of at least 1 and"), ("ttft", "2", "--ttft 2"),
    ("think_time", "-1 s", "at least 0"), ("rate", "nan", "--rate nan"),
    ("users", "inf", "--users inf")])
def test_a_number_that_cannot(name, text, said):
    with pytest.raises(ParamsError, match=said):
        given(**{name: text})


def test_a_burst_or_a_ramp_is_of_users():
    assert given(users="2", begin="together")["users"] == 2
    for options in ({"begin": "spread"}, {"ramp": "2 s"}, {"ramp": "0 s"}):
        with pytest.raises(ParamsError, match=next(iter(options))):
            given(rate="2", **options)


# --- what requests have in common -----------------------------------------------------------------


def shared(stated=0.0, longest=200, **options):
    """Prompts of 100 tokens, answers of 10; no request is longer than 200."""
    asked = dict.fromkeys(("prefix_groups", "prefix_tokens", "turns", "users")) | options
    return command._prefixes(Made(id="mine", inputs=lambda: {"prefix_hit_share": stated}),
                             Made(shape=(100, 10), longest=longest), asked)


def test_nothing_is_shared_unless_it_is_said():
    assert shared(stated=0.5) is None
    found = shared(prefix_tokens=60, prefix_groups=4)
    assert (found.groups, found.tokens, found.turns, found.longest) == (4, 60, 1, 200)
    assert (shared(turns=1).groups, shared(turns=1).tokens) == (1, 0)
    assert shared(prefix_tokens=100).tokens == 100


def test_a_last_turn_may_be_as_long_as_a_request():
    """Of three turns over a prefix of 70: 100 + 2 · 30 + 3 · 10."""
    asked = {"prefix_tokens": 70, "turns": 3, "users": 2}
    assert shared(longest=190, **asked).turns == 3
    with pytest.raises(ParamsError, match="the last one would have 190 tokens, expected at most 1"):
        shared(longest=189, **asked)
    assert shared(longest=100, prefix_tokens=70, turns=1).turns == 1


@pytest.mark.parametrize(("options", "said"), [
    ({"stated": 0.5, "turns": 2, "users": 3}, "states a prefix_hit_share of 0.5"),
    ({"prefix_groups": 2}, "--prefix-groups 2: expected --prefix-tokens"),
    ({"prefix_tokens": 101}, "a prompt has 100 tokens"),
    ({"turns": 2}, "--turns 2: .* expected --users")])
def test_what_cannot_be_shared(options, said):
    with pytest.raises(ParamsError, match=said):
        shared(**options)


def test_listed_requests_find_a_share_of_their_prompts(monkeypatch):
    """Rounded down and never the last token; a share that was found takes the place of that stated.
    """
    system = command.System.__new__(command.System)
    monkeypatch.setattr(command, "system_of", lambda *asked: system)
    monkeypatch.setattr(command, "replace", lambda of, **made: made)
    args = Made(policy="mixed", prefill_coordination=None)
    of = Made(inputs=lambda: {"prefix_hit_share": 0.25})
    asked = {"max_num_seqs": 8}
    assert command._system(of, [], args, asked) is system
    assert command._system(of, [(10, 3), (7, 5)], args, asked) == {
        "lengths": None, "shapes": ((10, 3, 2), (7, 5, 1))}
    found = command._system(of, [(10, 3)], args, asked, {"prefix_hit_share": 1.0})
    assert found["shapes"] == ((10, 3, 9),)


# --- how long a run is ----------------------------------------------------------------------------


@pytest.fixture
def served(monkeypatch):
    """Runs of so many requests, of which one arrives every second, the first at 1."""
    counts = []

    def workload(system, asked, count, ramp, seed, prefixes):
        counts.append((count, ramp, seed))
        return count

    def run(count, pool, decode, transfer, rate):
        return Made(outcomes=[Made(arrival=float(at)) for at in range(1, count + 1)],
                    given=(pool, decode, transfer, rate))

    monkeypatch.setattr(command, "workload_of", workload)
    monkeypatch.setattr(command, "simulate", run)
    return counts


SYSTEM = Made(shape=(100, 10), shapes=((100, 10, 0),), pool="pool", decode="decode",
              transfer="transfer", front_end_rate="rate")


def run(**asked):
    return command._run(SYSTEM, None, dict.fromkeys(
        ("rate", "users", "duration", "ramp")) | {"seed": 5, "requests": None} | asked, None)


def test_of_a_number_of_requests_so_many_are_served(served):
    assert run(requests=7, rate=2.0).given == ("pool", "decode", "transfer", "rate")
    run(requests=8, users=2, ramp=3.0)
    assert served == [(7, 0.0, 5), (8, 3.0, 5)]


@pytest.mark.parametrize(("duration", "users", "tried"), [
    (7.0, 2, [20, 7]), (19.0, 2, [20, 19]), (20.0, 2, [20, 40, 20]), (50.5, 2, [20, 40, 80, 50]),
    (1.5, 4, [40, 4])])
def test_of_a_duration_users_ask_what_they_ask_in_it_and_once_at_least(
        served, duration, users, tried):
    """Ten of each user are tried first, then twice as many until some come later."""
    run(duration=duration, users=users)
    assert [count for count, *_ in served] == tried


def test_of_a_duration_those_that_arrive_in_it_are_served(served, monkeypatch):
    """A rate of 4 in 25 s is 100 requests; ten deviations more and ten are drawn."""
    drawn = []

    def poisson(rate, count, shapes, seed):
        drawn.append((rate, count, shapes, seed))
        return [Made(arrival=at) for at in (0.5, 24.9, 25.0, 25.1)]

    monkeypatch.setattr(command, "poisson", poisson)
    run(duration=25.0, rate=4.0)
    assert drawn == [(4.0, 100 + 10 * 10 + 10, SYSTEM.shapes, 5)]
    assert served == [(3, 0.0, 5)]
    monkeypatch.setattr(command, "poisson", lambda *asked: [Made(arrival=26.0)])
    with pytest.raises(ParamsError, match="no request arrives in this time"):
        run(duration=25.0, rate=4.0)
    with pytest.raises(ParamsError, match="too many to simulate"):
        run(duration=25_001.0, rate=4.0)


# --- what is answered -----------------------------------------------------------------------------


def alike(mean):
    return Latency(mean, math.nan, 1.0, 2.0, 3.0, np.array([mean] * 3))


COUNTED = Summary(
    requests=3, begin=1.0, window=5.0, steady=True, wait=alike(0.5), ttft=alike(1.0),
    tpot=alike(0.05), e2e=alike(2.0), request_throughput=2.0, output_throughput=4.0,
    goodput=1.5, good=0.75, concurrency=4.0, utilisation={"serve": 0.25}, preemptions=0,
    input_tokens=3.0, hit_share=math.inf, evicted=1)


def answered(lengths, **asked):
    system = Made(pool=Made(limits=Made(policy="mixed"), coordination="none"), lengths=lengths,
                  shape=(100, 10), longest=math.inf)
    of = dict.fromkeys(("rate", "users")) | {"ttft": math.inf, "tpot": math.inf} | asked
    return command._answer(catalogue.load_scenario("h200-r1-vllm-tp8"), system, of, COUNTED,
                           (4.5, "simulation"))


def test_an_answer_tells_what_was_asked_and_nothing_that_is_not_finite():
    found = answered(None, rate=2.0)
    assert (found["scenario"], found["saturation_rate"], found["saturation_from"]) == (
        "h200-r1-vllm-tp8", 4.5, "simulation")
    assert found["workload"] == {
        "rate": 2.0, "ttft": None, "tpot": None, "arrivals": "poisson",
        "lengths": {"distribution": "listed"}, "mean_tokens": [100, 10], "longest_tokens": None,
        "policy": "mixed", "prefill_coordination": "none"}
    assert found["hit_share"] is None
    assert found["tpot"] == {
        "mean": 0.05, "half_width": None, "p50": 0.05, "p90": 0.05, "p99": 0.05,
        "intervals": {"p50": [0, None], "p90": [0, None], "p99": [0, None]}}


def test_goodput_is_told_where_there_is_an_objective():
    varied = command.Lengths("lognormal", 0.5, 0.25, stated=True)
    none = answered(varied, users=3)
    assert (none["goodput"], none["good"], none["workload"]["arrivals"]) == (
        None, None, "closed-loop")
    assert none["workload"]["lengths"]["distribution"] == "lognormal"
    for objective in ({"ttft": 1.0}, {"tpot": 0.05}):
        found = answered(varied, users=3, **objective)
        assert (found["goodput"], found["good"]) == (1.5, 0.75)


SCENARIO = catalogue.load_scenario("h200-r1-vllm-tp8")


def whole_run(monkeypatch, summary=COUNTED, **texts):
    """What ``simulate`` answers of a run that is written down, which saturates at 4.5 request/s."""
    told = []
    system = Made(pool=Made(limits=Made(policy="mixed"), coordination="none", ranks=8),
                  lengths=None, shape=(100, 10), longest=200.0, overhead=0.25, reasons=[])
    for name, found in (
            ("lengths_of", lambda args: ([], [])),
            ("load_scenario", lambda *given, **more: SCENARIO),
            ("_system", lambda *given: system), ("_run", lambda *given: told.append(given[2])),
            ("summarise", lambda run, objective: told.append(objective) or summary),
            ("saturation", lambda of: (4.5, "simulation")), ("cycle", lambda *given: 7.0),
            ("seen_by_users", lambda found, by: told.append(by) or found),
            ("print_json", told.append)):
        monkeypatch.setattr(command, name, found)
    names = ("rate", "users", "duration", "requests", "ramp", "prefix_tokens", "prefix_groups",
             "turns", "ttft", "tpot", "max_num_seqs", "begin")
    args = Made(**(dict.fromkeys(names) | {
        "think_time": "0 s", "seed": "0", "scenario": "x", "settings": [], "json": True} | texts))
    assert command.run(args) == 0
    return told


@pytest.mark.parametrize(("asked", "bounded"), [
    ({"rate": "4.4"}, True), ({"rate": "4.5"}, False), ({"rate": "9"}, False),
    ({"users": "1000"}, True)])
def test_a_queue_is_bounded_below_saturation_and_by_its_users(monkeypatch, asked, bounded):
    assert whole_run(monkeypatch, **asked)[-1]["bounded"] is bounded


@pytest.mark.parametrize(("steady", "window", "settled"), [
    (True, 6.0, True), (True, 5.99, False), (False, 60.0, False)])
def test_a_run_has_settled_that_is_three_times_as_long_as_a_request(
        monkeypatch, steady, window, settled):
    summary = replace(COUNTED, steady=steady, window=window)  # of requests of 2 s
    found = whole_run(monkeypatch, summary, rate="1")[-1]
    assert found["settled"] is settled
    assert (found["together"], found["prefixes_simulated"], found["reasons"]) == (8, False, [])


@pytest.mark.parametrize(("asked", "ramp"), [
    ({"users": "3"}, 7.0), ({"users": "3", "begin": "together"}, 0.0),
    ({"users": "3", "begin": "spread"}, 7.0), ({"users": "3", "ramp": "2 s"}, 2.0),
    ({"rate": "1"}, None)])
def test_users_begin_over_a_cycle_unless_told(monkeypatch, asked, ramp):
    assert whole_run(monkeypatch, **asked)[0]["ramp"] == ramp


def test_what_the_front_end_takes_is_no_part_of_what_is_simulated(monkeypatch):
    """An objective of 2 s leaves 1.75 to the engine; all that users see is later by a quarter."""
    _, objective, by, _ = whole_run(monkeypatch, rate="1", ttft="2 s", tpot="50 ms")
    assert (objective.ttft, objective.tpot, by) == (1.75, 0.05, 0.25)
