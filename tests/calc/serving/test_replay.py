"""Replay of a benchmark's run: latencies of one and of several requests, lengths, places, ranks.

Steps take what the runtime's clock says; the replay adds who waits for whom.
"""

import math

import pytest

import catalogue
from calc.serving.replay import serve_all
from calc.serving.requests import Step
from calc.serving.simulation import IDLE
from calc.serving.step_times import Clock

ALONE, DRAFTS, RANKS = "h200-r1-vllm-tp8", "h200-r1-sglang-mtp", "h200-v32-sglang-dp8"
PROMPT, ANSWER = 1000, 50


def at_once(requests, **changes):
    """A row of a benchmark whose requests are all in flight together."""
    return {"requests": float(requests), "concurrency": float(requests),
            "input_tokens": float(PROMPT), "output_tokens": float(ANSWER)} | changes


def clock(name=ALONE, **changed):
    scenario = catalogue.load_scenario(name)
    return Clock(scenario.inputs() | changed, scenario.model.attention)


def alone(taken, tokens=1.0):
    """Time to first token and of all others of a request that has a replica to itself [s]."""
    gap, steps = taken.inputs["host_gap_per_step"], round((ANSWER - 1) / tokens)
    return gap + taken(Step(((PROMPT, 0),), ())), sum(
        gap + taken(Step((), (PROMPT + 1 + int(tokens * step),))) for step in range(steps))


@pytest.mark.parametrize("replicas", [1, 4])
def test_one_request_for_each_replica(replicas):
    taken = clock(data_parallel=float(replicas), request_overhead=0.25)
    first, others = alone(taken)
    assert serve_all(taken, at_once(replicas), 1e5, "equal") == pytest.approx({
        "ttft": 0.25 + first, "tpot": others / (ANSWER - 1), "e2e": 0.25 + first + others,
        "output_throughput": replicas * ANSWER / (first + others)})


@pytest.mark.parametrize(("users", "blocks", "rate"), [
    (1.0, 1e5, math.inf), (2.0, 0.0, math.inf),  # one place; room for the longest request
    (2.0, 1e5, 1.0)])  # a slow front end
def test_a_second_request_waits_for_a_place_for_blocks_or_for_the_front_end(users, blocks, rate):
    row = at_once(2, concurrency=users)
    taken = clock(front_end_rate=rate, request_overhead=0.25)
    first, others = alone(taken)
    assert first + others < 1.0
    wait = first + others if rate == math.inf else 1.0
    told = serve_all(taken, row, blocks, "equal")
    assert told == pytest.approx({
        "ttft": 0.25 + first + wait / 2, "tpot": others / (ANSWER - 1),
        "e2e": 0.25 + first + others + wait / 2,
        "output_throughput": 2 * ANSWER / (first + others + wait)})
    held = serve_all(taken, row, blocks, "equal", queued=False)
    assert (held["ttft"], held["e2e"]) == pytest.approx((0.25 + first, 0.25 + first + others))


@pytest.mark.parametrize("accepted", [1.0, 1.5, 2.0])
def test_accepted_drafts_divide_the_time_of_a_token(accepted):
    taken = clock(DRAFTS, accepted_length=accepted, draft_tokens=1.0)
    first, others = alone(taken, accepted)
    told = serve_all(taken, at_once(1), 1e5, "equal")
    # contexts are rounded up to blocks, by their mean
    assert told["tpot"] == pytest.approx(others / (ANSWER - 1), rel=1e-5)
    assert told["ttft"] == pytest.approx(first + taken.inputs["request_overhead"])


def test_ranks_that_share_experts_step_together():
    taken = clock(RANKS, front_end_rate=math.inf, request_overhead=0.0)
    gap = taken.inputs["host_gap_per_step"]
    told = serve_all(taken, at_once(8), 1e5, "equal")
    assert told["ttft"] == pytest.approx(
        gap + taken.together([Step(((PROMPT, 0),), ())] * 8))
    assert told["output_throughput"] == pytest.approx(8 * ANSWER / told["e2e"])
    assert serve_all(taken, at_once(3), 1e5, "equal") == told  # every rank has one at least
    slow = clock(RANKS, front_end_rate=1e-3, request_overhead=0.0)
    apart = serve_all(slow, at_once(8), 1e5, "equal", queued=False)
    assert apart["ttft"] == pytest.approx(
        gap + slow.together([Step(((PROMPT, 0),), ()), *[IDLE] * 7]))


def test_ranks_that_share_a_cache_have_larger_blocks():
    """Two prompts of 16 blocks in 31 blocks of 64 tokens, or of 64 tokens on each of two ranks."""
    waits = []
    for ranks in (1.0, 2.0):
        taken = clock(block_size=64.0, decode_context_parallel=ranks, index_topk=0.0)
        queued, begun = (serve_all(taken, at_once(2), 31.0, "equal", queued=each)
                         for each in (True, False))
        waits.append(queued["ttft"] - taken.inputs["request_overhead"] > 1.5 * begun["ttft"])
    assert waits == [True, False]


GAP = 1e6  # s between steps, beside which a step takes no time: latencies count steps


@pytest.mark.parametrize(("lengths", "median"), [
    ("equal", 1.0), ("even", 1.0), ("unknown", math.log(2))])
def test_lengths_have_their_mean_and_are_equal_uniform_or_exponential(lengths, median):
    """All at once, with every prompt in the first step: an answer takes as many steps as tokens."""
    taken = clock(host_gap_per_step=GAP, max_num_batched_tokens=1e9, front_end_rate=math.inf)
    row = at_once(600, input_tokens=20.0)
    mean, middle = (serve_all(taken, row, 1e6, lengths, medians=frozenset(names))
                    for names in ((), ("e2e",)))
    assert mean["e2e"] / GAP == pytest.approx(ANSWER, rel=0.1)
    assert middle["e2e"] / GAP == pytest.approx(median * ANSWER, rel=0.1)
    assert middle | {"e2e": 0.0} == mean | {"e2e": 0.0}
    longest = round(600 * ANSWER / mean["output_throughput"] / GAP)
    if lengths != "unknown":
        assert longest <= (1 if lengths == "equal" else 2) * ANSWER * 1.1
    assert serve_all(taken, row, 1e6, lengths) == mean


def test_no_length_is_shorter_than_a_token_and_one_token_has_no_pace():
    taken = clock(request_overhead=0.0)
    told = serve_all(taken, at_once(1, input_tokens=0.2, output_tokens=0.0), 1e5, "equal")
    assert told["e2e"] == told["ttft"] == pytest.approx(
        taken.inputs["host_gap_per_step"] + taken(Step(((1, 0),), ())))
    assert math.isnan(told["tpot"])
