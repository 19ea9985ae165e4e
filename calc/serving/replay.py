"""A benchmark's run of many requests, replayed by the scheduler with the runtime's step times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from calc.physics.arrays import ceil_div
from calc.serving.requests import Limits, Outcome, Policy, Request
from calc.serving.simulation import Coordination, Pool, simulate
from calc.serving.step_times import Clock, ranks_in_step

SEED = 0
Lengths = Literal["equal", "even", "unknown"]
MOST_SEQUENCES = 1024  # default of vLLM on cards of this size; others let in no fewer here


def serve_all(clock: Clock, row: Mapping[str, float], blocks: float, lengths: Lengths,
              policy: Policy = "mixed", queued: bool = True, coordination: Coordination = "eager",
              medians: frozenset[str] = frozenset()) -> dict[str, float]:
    """Metrics of a run in which all requests are sent at once.

    They are dealt to the data-parallel replicas in turn, and one replica is replayed, or one group
    of those that share experts. Its front end lets its requests in one after another. Where
    only the mean of many lengths is known, they are drawn from an exponential distribution: of all
    distributions of a positive length with that mean the one that assumes least. Where the client
    is known to draw them evenly, from one token to twice the mean, so are they here.

    Args:
        clock: of the deployment's steps; runs that share it compute no step twice.
        row: ``requests``, ``concurrency``, ``input_tokens``, ``output_tokens``.
        blocks: KV blocks of a replica [block].
        lengths: equal ones, or many: drawn evenly, or as is not known.
        policy: whether a step may hold prompts and decodes, or prompts go first.
        queued: whether waiting for a place counts, which it does not where the client holds
            requests back.
        coordination: of prefill, where ranks share experts.
        medians: of tpot, ttft and e2e those whose median is asked, not the mean.

    Returns tpot, ttft and e2e over requests [s], and output_throughput over the run
    [token/s].
    """
    inputs = clock.inputs
    replicas = int(inputs["data_parallel"])
    ranks = ranks_in_step(inputs)
    count = max(1, round(row["requests"] / replicas)) * ranks
    at_once = min(MOST_SEQUENCES, max(1, int(row["concurrency"] / replicas)))
    draw = np.random.default_rng(SEED)
    drawn = [_drawn(draw, max(1.0, row[name]), count, lengths)
             for name in ("input_tokens", "output_tokens")]
    size = int(clock.pages.block_tokens * inputs["decode_context_parallel"])
    longest = int((drawn[0] + drawn[1]).max())
    state = int(clock.pages.state_blocks_per_request)
    limits = Limits(
        max_num_batched_tokens=int(inputs["max_num_batched_tokens"]), max_num_seqs=at_once,
        kv_blocks=max(int(blocks), int(ceil_div(longest, size)) + state), block_size=size,
        state_blocks_per_request=state, policy=policy,
        recv_interval=int(inputs["scheduler_recv_interval"]),
        steps_ahead=int(inputs["steps_ahead"]), step_tokens=1 + int(inputs["draft_tokens"]),
        tokens_per_step=clock.tokens_per_step)
    requests = [Request(number / inputs["front_end_rate"], int(prompt), int(answer))
                for number, (prompt, answer) in enumerate(zip(*drawn, strict=True))]
    outcomes = _served(requests, limits, clock, coordination)
    later = [outcome.tpot for outcome in outcomes if outcome.output_tokens > 1]
    since = [0.0 if queued else outcome.started for outcome in outcomes]
    first = [outcome.first_token - begun
             for outcome, begun in zip(outcomes, since, strict=True)]
    last = [outcome.finished - begun
            for outcome, begun in zip(outcomes, since, strict=True)]
    overhead = inputs["request_overhead"]
    tokens = sum(outcome.output_tokens for outcome in outcomes)
    mid = {name: np.median if name in medians else np.mean for name in ("tpot", "ttft", "e2e")}
    return {
        "tpot": float(mid["tpot"](later)) if later else float("nan"),
        "ttft": overhead + float(mid["ttft"](first)), "e2e": overhead + float(mid["e2e"](last)),
        "output_throughput": replicas / ranks * tokens / max(each.finished for each in outcomes),
    }


def _drawn(draw: np.random.Generator, mean: float, count: int, lengths: Lengths) -> np.ndarray:
    """Lengths of requests with that mean [token], shape (count,)."""
    if lengths == "equal":
        found = np.full(count, mean)
    elif lengths == "even":
        found = draw.uniform(1, 2 * mean, count)
    else:
        found = draw.exponential(mean, count)
    return np.maximum(1, np.rint(found)).astype(int)


def _served(requests: Sequence[Request], limits: Limits, clock: Clock,
            coordination: Coordination) -> Sequence[Outcome]:
    """Requests through one replica, or in turn through the ranks that share experts."""
    ranks = ranks_in_step(clock.inputs)
    pool = Pool(limits, clock, clock.inputs["host_gap_per_step"], replicas=ranks, ranks=ranks,
                group_time=clock.together, coordination=coordination, coming=clock.coming)
    return simulate(requests, pool).outcomes
