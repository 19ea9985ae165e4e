"""Where the closed form of a steady state is not held by a simulation, and by which mechanism.

Each condition is one on what the closed form itself finds, so that it costs nothing and can be
asked of many deployments at once; nothing is simulated here. Its limits were set on random
deployments (``benchmarks.steady`` holds them on others).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from calc.closed_form.waves import front_ends_rate
from calc.physics.arrays import Number
from calc.physics.experts import ranks_in_step
from catalogue.messages import Pair, messages

say = messages("calc/closed-form/validity")

NEAR = {"ttft": 0.2, "tpot": 0.1}  # of a simulation: nine of ten where it is to hold
STALLED = 2 / 5  # of a token's time, prompts of other ranks that several chunks of a prompt meet
HELD = 4 / 7  # share of a token's time spent on prompts, where the engine delays them
NEARLY_ALL = 7 / 8  # of the steps, those with a prompt on some rank; of a token's time, prompts
HALF = 4 / 9  # of the steps, those with a prompt on one rank
SATURATED = 3 / 5  # of a token's time, prompts that come to one replica at random
IN_TURN = 1 / 2  # of a token's time, prompts where requests are dealt to replicas in turn
OFTEN = 1 / 2  # of the requests, those that come, or meet prompts, at random
EQUAL = 1 / 10  # of a token's time, prompts where answers of one length end in step, or where a
# prompt takes longer than its answer
LONG = 5.0  # chunks of a prompt that nobody else's often interrupts
FRONT_END = 1 / 2  # of its rate


@cache
def doubt_words() -> dict[str, Pair]:
    """Return the reason for each doubt about the closed form, by name."""
    return {
        "shared": say("ranks-that-share-experts-spend"),
        "few": say("prompts-come-at-random-to"),
        "equal": say("requests-of-one-length"),
        "held": say("ranks-hold-back-prompts-of"),
        "balanced": say("ranks-let-in-requests-together"),
        "saturated": say("prompts-at-random-take-most"),
        "in_turn": say("requests-are-dealt-to-replicas"),
        "front_end": say("front-end-is-near-its"),
    }


def doubts(q: Any, found: Mapping[str, Number]) -> dict[str, Number]:
    """Whether each condition is met under which the closed form is off [1], by its name.

    Names are those of :func:`doubt_words`.

    Args:
        q: input symbols as attributes.
        found: quantities of a steady state, by name.

    Source: notebooks/serving.md, section A steady state.
    """
    ranks, one_pool = ranks_in_step(q), q.separate_pools <= 0
    together, several = ranks > 1, (q.data_parallel > ranks) & one_pool
    stalled = found["steady_stall"] / found["steady_tpot"]
    cut = found["prompt_span"] * (1 + q.prompt_variation) > 1
    often, met = found["random_share"] > OFTEN, found["meeting_share"] > OFTEN
    held = q.prefill_delay_steps > 0
    longer = (stalled > EQUAL) & (found["mean_chunks"] * found["busy_step"] > (
        q.output_tokens - 1) * found["steady_tpot"])
    equal = q.answer_variation * (q.output_tokens - 1) < found["tokens_per_step"]
    rate = found["steady_request_throughput"]
    in_flight = rate * found["steady_e2e"]
    seldom = often & (in_flight <= q.data_parallel)
    return {
        "shared": together & one_pool & (
            ~held & (cut & met & (stalled > STALLED) | often & (stalled > NEARLY_ALL) | longer)
            | (found["group_busy"] > NEARLY_ALL) & (found["rank_busy"] > HALF)),
        "few": one_pool & (together & seldom & (stalled > STALLED)
                           | often & (in_flight < 2) & (found["prompt_span"] > LONG)),
        "equal": one_pool & ~several & ~often & equal & (stalled > EQUAL),
        "held": together & held & (
            cut & (stalled > STALLED) | (stalled > HELD) | longer | (q.least_loaded > 0)),
        "saturated": one_pool & ~together & ~several & often & (stalled > SATURATED),
        "in_turn": several & (stalled > IN_TURN),
        "front_end": (rate > FRONT_END * front_ends_rate(q)),
    }
