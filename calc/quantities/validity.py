"""Where the closed form of a steady state is not held by a simulation, and by which mechanism.

Each condition is one on what the closed form itself finds, so that it costs nothing and can be
asked of many deployments at once; nothing is simulated here. Its limits were set on random
deployments (``benchmarks.steady`` holds them on others).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calc.physics.arrays import Number
from calc.physics.experts import ranks_in_step

NEAR = {"ttft": 0.2, "tpot": 0.1}  # of a simulation: nine of ten where it is to hold
STALLED = 3 / 4  # of a token's time, prompts of other ranks: which of them meet decides it
STALLED_ALONE = 2 / 5  # the same with no more requests than ranks, of which some are empty
STALLED_PREFILL_FIRST = 3 / 5  # of the steps with a prompt on some rank, where decoding waits
IN_TURN = 1 / 6  # of a token's time, prompts that come at random and are dealt to replicas in turn
IN_TURN_AGAIN = 2 / 5  # the same of prompts that come back after their answers
HELD = 1 / 2  # of a token's time, prompts that come at random and are held back
OFTEN = 1 / 2  # of the requests, those that come at random
OVER_STEPS = 3 / 5  # of a token's time, prompts of several chunks on one of several replicas
FRONT_END = 1 / 2  # of its rate

DOUBTS = {
    "shared": ("ranks that share experts wait for each other's prompts most of the time",
               "共享专家的各 rank 大部分时间在等彼此的提示"),
    "few": ("there are no more requests than ranks, and their prompts hold each other up",
            "请求不多于 rank 数，且提示互相拖住"),
    "held": ("ranks hold back prompts of several chunks, or many that come at random",
             "各 rank 压住分成多块的提示，或大量随机到来的提示"),
    "balanced": ("ranks let in requests together (balance), which it does not hold",
                 "各 rank 同时放行请求（balance），闭式没有包括"),
    "in_turn": ("requests are dealt to replicas in turn, where fewer prompts meet than at random",
                "请求轮流分给各副本，提示相遇比随机分派时少"),
    "long": ("prompts of several chunks take most of the time of a replica among several",
             "多个副本之一的大部分时间用于分成多块的提示"),
    "front_end": ("the front end is near its rate", "前端接近其速率上限"),
}
"""Why it does not hold, by name: in English and Chinese."""


def doubts(q: Any, found: Mapping[str, Number]) -> dict[str, Number]:
    """Whether each condition is met under which the closed form is off, by name of ``DOUBTS``.

    Args:
        q: input symbols as attributes.
        found: quantities of a steady state, by name.

    Source: notebooks/serving.md, section A steady state.
    """
    ranks, apart = ranks_in_step(q), np.greater(q.separate_pools, 0)
    together, several = np.greater(ranks, 1), np.greater(q.data_parallel, ranks) & ~apart
    stalled = found["steady_stall"] / found["steady_tpot"]
    chunked = np.greater(found["prompt_span"], 1)
    long_ones = np.greater(found["prompt_span"] * (1 + q.prompt_variation), 1)
    in_flight = found["steady_request_throughput"] * found["steady_e2e"]
    waiting = np.less_equal(q.mixed_steps, 0) & np.greater(
        found["group_busy"], STALLED_PREFILL_FIRST)
    rate = found["steady_request_throughput"]
    often = np.greater(found["random_share"], OFTEN)
    return {
        "shared": together & ~apart & (np.greater(stalled, STALLED) | waiting),
        "few": together & ~apart & np.less_equal(in_flight, q.data_parallel) & np.greater(
            stalled, STALLED_ALONE),
        "held": together & np.greater(q.prefill_delay_steps, 0) & (
            long_ones | often & np.greater(stalled, HELD)),
        "in_turn": several & np.greater(stalled, np.where(often, IN_TURN, IN_TURN_AGAIN)),
        "long": several & ~together & chunked & np.greater(stalled, OVER_STEPS),
        "front_end": np.greater(rate, FRONT_END * q.front_end_rate),
    }
