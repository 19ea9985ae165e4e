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
STALLED_AT_RANDOM = 1 / 2  # the same of prompts that come at random
STALLED_FEW = 2 / 5  # the same of prompts that come at random to more ranks than there are requests
NEARLY_ALL = 7 / 8  # of the steps, those with a prompt on some rank
IN_TURN = 1 / 2  # of a token's time, prompts where requests are dealt to replicas in turn
HELD = 1 / 2  # of a token's time, prompts that come at random and are held back
OFTEN = 1 / 2  # of the requests, those that come at random
FRONT_END = 1 / 2  # of its rate

DOUBTS = {
    "shared": ("ranks that share experts spend most of the time on each other's prompts, which "
               "come in nearly every step or at random",
               "共享专家的各 rank 大部分时间用于彼此的提示，"
               "而提示几乎每步都有，或随机到来"),
    "few": ("prompts come at random to ranks that are more than the requests in flight, and hold "
            "each other up",
            "提示随机到来，在途请求不多于 rank 数，且提示互相拖住"),
    "held": ("ranks hold back prompts of several chunks, or many that come at random",
             "各 rank 压住分成多块的提示，或大量随机到来的提示"),
    "balanced": ("ranks let in requests together (balance), which it does not hold",
                 "各 rank 同时放行请求（balance），闭式没有包括"),
    "in_turn": ("requests are dealt to replicas in turn and mostly wait for prompts: which of them "
                "meet decides",
                "请求轮流分给各副本，且大部分时间在等提示，结果取决于哪些提示相遇"),
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
    long_ones = np.greater(found["prompt_span"] * (1 + q.prompt_variation), 1)
    often = np.greater(found["random_share"], OFTEN)
    waiting = np.greater(stalled, STALLED)
    always = np.greater(found["group_busy"], NEARLY_ALL)
    rate = found["steady_request_throughput"]
    seldom = often & np.less_equal(rate * found["steady_e2e"], q.data_parallel)
    return {
        "shared": together & ~apart & (
            often & np.greater(stalled, STALLED_AT_RANDOM)
            | always & (waiting | np.less_equal(q.mixed_steps, 0))),
        "few": together & ~apart & seldom & np.greater(stalled, STALLED_FEW),
        "held": together & np.greater(q.prefill_delay_steps, 0) & (
            long_ones | often & np.greater(stalled, HELD)),
        "in_turn": several & np.greater(stalled, IN_TURN),
        "front_end": np.greater(rate, FRONT_END * q.front_end_rate),
    }
