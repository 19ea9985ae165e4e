"""The closed form of a steady state beside a simulation of the same steps.

Of each fleet the first that the closed form says it holds for, and that is simulated in a moment.
Longer runs: ``python -m benchmarks.steady``.
"""

import numpy as np

from calc.closed_form.validity import NEAR, doubts
from calc.serving.arrivals import ClosedLoop, shapes_of
from calc.serving.metrics import summarise
from calc.serving.requests import Limits
from calc.serving.simulation import Pool, simulate
from calc.serving.step_times import Clock, Paced
from laws.holding import mostly, near

VARIATION = 0.5  # of lengths, log-normal: standard deviation over mean
ROUNDS, FEWEST = 6, 100  # requests of each user, and besides
QUICK = 50_000  # tokens of all answers, at most
ANSWER = 32  # tokens: the time per token of fewer is a mean over few steps
FURTHER = 0.1  # of the deployments: ``NEAR`` is what nine in ten keep


def simulable(fleet):
    """Users of one replica without drafts who ask again at once, for requests of any lengths."""
    found = fleet.but(**{name: np.full(fleet.size, value) for name, value in (
        ("think_time", 0.0), ("open_arrivals", 0.0), ("prompt_variation", VARIATION),
        ("answer_variation", VARIATION))})
    q = found.inputs
    doubted = np.logical_or.reduce([np.broadcast_to(met, fleet.size) for met in doubts(
        found.symbols, found.found).values()])
    requests = ROUNDS * q["concurrency"] + FEWEST
    quick = requests * q["output_tokens"] <= QUICK
    plain = ((q["data_parallel"] == 1) & (q["pipeline_parallel"] == 1) & (q["draft_tokens"] == 0)
             & (q["separate_pools"] == 0) & (q["prefix_hit_share"] == 0)
             & (q["concurrency"] > 1) & (q["output_tokens"] >= ANSWER))
    return found, np.flatnonzero(plain & quick & ~doubted)[:1]


def simulated(fleet, index):
    """Means of a run of users who ask again at once."""
    q = {name: float(value[index]) for name, value in fleet.inputs.items()}
    found = {name: float(fleet.found[name][index]) for name in (
        "tokens_per_step", "kv_blocks", "state_blocks_per_request", "e2e")}
    pace = Paced(Clock(q, fleet.attention), q["host_gap_per_step"], found["tokens_per_step"])
    limits = Limits(
        int(q["max_num_batched_tokens"]), 1024, int(found["kv_blocks"]),
        int(q["block_size"] * q["decode_context_parallel"]),
        policy="mixed" if q["mixed_steps"] else "prefill-first",
        state_blocks_per_request=int(found["state_blocks_per_request"]),
        recv_interval=int(q["scheduler_recv_interval"]), steps_ahead=int(q["steps_ahead"]))
    users = int(q["concurrency"])
    shapes = shapes_of(q["input_tokens"], q["output_tokens"], "lognormal", (VARIATION,) * 2,
                       longest=limits.longest)
    loop = ClosedLoop(users, ROUNDS * users + FEWEST, shapes, q["request_overhead"],
                      ramp=found["e2e"])
    return summarise(simulate(loop, Pool(limits, pace, coming=pace.coming)))


def beside(fleet, compare):
    """What a comparison says of the deployment that is simulated; nothing of the others."""
    found, chosen = simulable(fleet)
    held = np.ma.masked_all(fleet.size, bool)
    for index in chosen:
        held[index] = compare(found, index, simulated(found, index))
    return held


@mostly(FURTHER)
def test_time_per_token_is_near_to_that_of_a_simulation(fleet):
    return beside(fleet, lambda found, index, run: near(
        found.found["steady_tpot"][index], run.tpot.mean, within=NEAR["tpot"]))
