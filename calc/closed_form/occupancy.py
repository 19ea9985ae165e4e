"""How full the KV cache of a replica is in a steady state, and how often it does not suffice.

The memory budget charges every request with its longest context. Requests that come and go at other
times than each other are at any moment of their answers, and what they hold together is a sum of
independent parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calc.closed_form.dealing import normal_tail
from calc.closed_form.steady import Steady
from calc.physics.arrays import Number, maximum, select
from calc.physics.decode_floor import Decode
from calc.physics.memory import Memory

LEAST = 8.0**-9  # deviation of what does not vary, where it divides


@dataclass(frozen=True)
class Occupancy:
    """Tokens [token/request], time [s], requests [request] and shares of a replica's blocks [1].

    Attributes:
        held_tokens: that the blocks of a request take, the empty places of its last one included.
        held_time: for which a request holds blocks.
        holding_requests: that hold blocks of the fullest replica, on average.
        cache_occupied, cache_deviation: mean and standard deviation of the share of the blocks
            that they take; more than there are, if it is above 1.
        cache_overflow: share of the steps in which they would take more than there are.
    """

    held_tokens: Number
    held_time: Number
    holding_requests: Number
    cache_occupied: Number
    cache_deviation: Number
    cache_overflow: Number


def occupancy(q: Any, m: Memory, d: Decode, s: Steady) -> Occupancy:
    """Compute the blocks that requests in a steady state take of the fullest replica [1].

    Args:
        q: input symbols as attributes.
        m: the memory budget.
        d: contexts of decode.
        s: the steady state.

    Source: notebooks/memory.md, section How full the cache gets.
    """
    together = m.block_tokens * q.decode_context_parallel
    tokens = d.decode_context_tokens + (together - 1) / 2 + (  # half of the last block is empty
        (m.request_blocks - m.blocks_per_request) * together)
    time = select(q.separate_pools > 0, q.output_tokens * s.steady_tpot,
                  s.steady_prefill + (q.output_tokens - 1) * (s.steady_pace + s.steady_stall))
    begun = s.steady_request_throughput * m.served_per_rank / m.served_requests
    holding = begun * time
    without = select(q.open_arrivals > 0, 1, maximum(
        0, 1 - time / (s.steady_e2e + q.think_time)))
    room = maximum(1, m.kv_blocks - m.prompt_blocks) * together
    occupied = holding * tokens / room
    variance = holding * (d.context_deviation * d.context_deviation + without * tokens * tokens)
    deviation = variance ** 0.5 / room
    return Occupancy(tokens, time, holding, occupied, deviation,
                     normal_tail((1 - occupied) / maximum(deviation, LEAST)))
