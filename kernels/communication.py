"""Laws of all-reduces and exchanges of experts: those of a step, on columns of a table."""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from calc.kernels.law import Bounds, Column, Columns, Law
from calc.physics.communication import Group, all_reduce, exchange, group
from calc.physics.inputs import Inputs, Number

# a table of one server asks for no network
ALONE = {"network_bandwidth": 1.0, "network_alpha": 0.0, "network_efficiency": 1.0}
LINKS = ("devices_per_node", "full_mesh", "pair_bandwidth", "device_link_bandwidth", "switch_adds")
# of an exchange as it is measured: tokens alike for all ranks, and no shared experts
EVEN = {"shared_expert_ranks": 0, "n_shared_experts": 0}
MOST_NODES = 4  # that a token is sent to in the programs that measure, as in DeepSeek-V3


def _laid(columns: Columns, parameters: Mapping[str, Number], **others: Number
          ) -> tuple[Inputs, Group]:
    """Inputs of a step from what is known of the card and of a law's parameters; the group."""
    given: dict[str, Number] = {**ALONE, **others, **parameters}
    given |= {name: columns[name] for name in LINKS}
    q = Inputs(given)
    return q, group(q, columns["ranks"])


def fitted_all_reduce(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Rows of measured all-reduces within a server [s], by ``calc.physics.communication``.

    Args:
        columns: ``ranks`` [1] and ``bytes`` of the buffer of one rank [B]; of the card's node
            ``LINKS``, as the inputs of a step.
        parameters: of the law.

    Source: notebooks/communication.md, sections Five ways to add up and Large payloads: pipelines,
    and switches that add.
    """
    q, g = _laid(columns, parameters)
    return np.asarray(all_reduce(q, g, columns["bytes"]), float)


def exchange_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of one direction of an exchange of experts [s].

    Args:
        columns: ``ranks``, ``nodes``, ``num_experts_per_tok``, ``n_routed_experts`` [1], ``tokens``
            of a rank [token], ``token_bytes`` as they travel, scales included [B/token], and
            ``exchange_normal``, 1 where a token goes once to each node [1]; of the card's node
            ``LINKS`` and ``network_bandwidth``; values that are held while others are fitted.
        parameters: of the law.

    Source: notebooks/communication.md, section Tokens that travel to their experts; the routing:
    DeepEP, tests/test_internode.py.
    """
    named = ("num_experts_per_tok", "n_routed_experts", "exchange_normal")
    across = np.greater(columns["nodes"], 1)
    every: dict[str, Number] = {name: parameters[name] if name in parameters else columns[name]
                                for name in _EXCHANGE}
    every["exchange_network_alpha"] = across * every["exchange_network_alpha"]
    q, g = _laid({**columns, "devices_per_node": columns["ranks"] / columns["nodes"]}, every,
                 **EVEN, expert_parallel=columns["ranks"],
                 network_bandwidth=columns["network_bandwidth"], n_group=columns["nodes"],
                 topk_group=np.minimum(columns["nodes"], MOST_NODES),
                 **{name: columns[name] for name in named})
    return np.asarray(exchange(q, g, columns["tokens"], columns["token_bytes"]), float)


def there_and_back_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of a dispatch and the combine of the same tokens [s]: what a layer pays.

    A step has one latency for both ways; of a table each alone has its own.

    Args:
        columns: those of ``exchange_time``, and ``back_bytes`` of a token on its way back
            [B/token].
        parameters: of the law.

    Source: notebooks/communication.md, section Tokens that travel to their experts.
    """
    return (exchange_time(columns, parameters)
            + exchange_time({**columns, "token_bytes": columns["back_bytes"]}, parameters))


def exchange_law(told: Container[str]) -> Law:
    """A law of an exchange there and back, with what a table tells as parameters.

    Args:
        told: their names; the others are held, as the columns have them.
    """
    return Law("exchange", {name: bounds for name, bounds in _EXCHANGE.items() if name in told},
               there_and_back_time)


_EXCHANGE = {"exchange_alpha": Bounds(2e-5, 1e-6, 1e-3),
             "exchange_efficiency": Bounds(0.5, 0.02, 1.0),
             "exchange_expert_time": Bounds(1e-8, 1e-12, 1e-6),
             "exchange_token_time": Bounds(1e-8, 1e-12, 1e-6),
             "exchange_network_alpha": Bounds(1e-5, 1e-7, 1e-3),
             "exchange_network_efficiency": Bounds(0.8, 0.05, 1.0)}
# a second round that starts late or soon, beside a pipeline that starts soon or late
_ROUNDS = ({"second_round_alpha": 1e-5, "pipelined_alpha": 2e-5},
           {"second_round_alpha": 2e-6, "pipelined_alpha": 6e-5})
ALL_REDUCE = Law("all_reduce", {
    "collective_alpha": Bounds(4e-6, 5e-7, 6e-5), "second_round_alpha": Bounds(4e-6, 3e-7, 2e-4),
    "collective_efficiency": Bounds(0.65, 0.05, 1.0), "pipelined_alpha": Bounds(5e-5, 3e-6, 1e-4),
    "pipelined_efficiency": Bounds(0.65, 0.3, 0.8)}, fitted_all_reduce, begins=_ROUNDS)
