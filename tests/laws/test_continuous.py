"""Continuity: a little more of an input moves no steady state by much."""

import numpy as np
import pytest
from _cases import usual

from calc.physics.arrays import Inputs
from calc.physics.experts import ranks_in_step
from calc.serving.burst import front_ends_rate
from laws.holding import but, law
from laws.order import excepted

SEEN = ("steady_ttft", "steady_tpot", "steady_e2e", "steady_throughput", "steady_users")
# An engine's steps: whole chunks of a prompt and of a burst, requests of the fullest rank and of a
# stage's batch (which choose the captured graph), the kernel of a prompt's attention.
STEPS = ("prompt_chunks", "burst_chunks", "requests_per_rank", "decode_batch", "prefill_absorbed")
COUNTED = ("input_tokens", "output_tokens", "concurrency")
LESS_ONE = {"output_tokens", "concurrency"}  # the first token and one's own request come anyway
CONTINUOUS = (
    "think_time", "prefix_hit_share", "prompt_variation", "answer_variation", "front_end_rate",
    "memory_bandwidth", "network_bandwidth", "device_link_bandwidth", "host_gap_per_step",
    "host_time_per_operator", "request_overhead", "mla_efficiency", "routed_expert_peak",
    "overlap_efficiency", "mtp_acceptance")
MORE = 1.01  # times a continuous input
JUMP = 0.03
KNEE = 4 / 3  # of what a cycle takes at least: a queue at 3/4 moves by 4% for one of its load
ANSWER = 16  # tokens at least: the time per token of fewer is a mean over few steps
SQUARED = 2  # of an answer: a longer one spreads its stalls wider, and has fewer prompts beside it


def moved(inputs, name):
    """Inputs with a little more of one, and how much that is itself (logarithm)."""
    old = inputs[name]
    new = old + 1 if name in COUNTED else old * MORE
    if name in ("prefix_hit_share", "mtp_acceptance", "overlap_efficiency"):
        new = np.minimum(new, 1)
    change = {name: new}
    if name in COUNTED[:2]:
        change["context_tokens"] = inputs["context_tokens"] + 1
    of, to = (each - (name in LESS_ONE) for each in (old, new))
    itself = np.where(of > 0, np.log(np.where(of > 0, to, 1) / np.where(of > 0, of, 1)), np.inf)
    if name == "prefix_hit_share":  # what is computed is the rest
        left = np.maximum(1e-9, 1 - old) / np.maximum(1e-9, 1 - new)
        itself = np.maximum(itself, np.log(left))
    return change, np.where(old == new, 0, itself) * (SQUARED if name == "output_tokens" else 1)


def replicas_of(inputs, got):
    """Replicas of a pool that prefills, of which there are whole ones."""
    return np.ceil(got["pool_ratio"] * inputs["data_parallel"]) * inputs["separate_pools"]


def is_saturated(inputs, got):
    """Whether a cycle is hardly more than the narrowest part needs for all, so that TTFT is what
    decoding leaves of it: a small difference of long times."""
    needed = np.maximum((1 + got["steady_others"]) * got["least_work"],
                        inputs["concurrency"] / front_ends_rate(Inputs(inputs)))
    return got["steady_e2e"] <= needed * KNEE


@pytest.mark.parametrize("name", [*COUNTED, *usual(CONTINUOUS, 3)])
@law
def test_a_little_more_moves_nothing_by_much(fleet, name):
    """One token, one request, one per cent of an input: no more than 3% beyond the change itself,
    between two steps of the engine."""
    q, got = fleet.inputs, fleet.found
    change, itself = moved(q, name)
    then = fleet.of(**change)
    # fewer requests than ranks: one more is on a rank that had none
    usual = (q["output_tokens"] >= ANSWER) & (q["concurrency"] >= q["data_parallel"])
    # dealt in turn to replicas that hardly have one each: of one more it hangs which meet
    replicas = q["data_parallel"] * q["pipeline_parallel"] / ranks_in_step(fleet.symbols)
    usual &= (replicas == 1) | (q["concurrency"] >= 2 * replicas)
    usual &= replicas_of(q, got) == replicas_of(q | change, then)
    for step in STEPS:
        usual &= got[step] == then[step]
    usual &= ~excepted(("short prefixes",), q, got, q | change, then)
    unqueued = ~is_saturated(q, got) & ~is_saturated(q | change, then)
    kept = []
    for each in SEEN:
        held = usual & (got[each] > 0) & (unqueued if each == "steady_ttft" else True)
        before, after = (np.where(held, of[each], 1) for of in (got, then))
        kept.append(but(np.abs(np.log(after / before)) <= np.where(held, itself, 0) + JUMP, ~held))
    return np.ma.stack(kept)
