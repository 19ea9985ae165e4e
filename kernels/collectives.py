"""All-reduces and exchanges of experts: laws, and the rows of tables that they are fitted to.

An exchange is judged as its dispatch and combine together, as a layer pays it, mode by mode.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calc.physics.arrays import Inputs
from calc.physics.communication import all_reduce, exchange, group
from catalogue import library
from catalogue.deployments.physics_inputs import USUAL_NETWORK, inside_inputs, network_bandwidth
from catalogue.entries.hardware import Device, Mechanisms
from catalogue.tables import Table
from kernels.expert_kernels import LEAST_CHOSEN, LEAST_EXPERTS, LEAST_HIDDEN, LIKE_V3
from kernels.fitting import (
    Bounds,
    Column,
    Columns,
    Fitted,
    Law,
    by_region,
    errors,
    fit,
    halves,
    select,
)
from kernels.matmuls import MOST_TOKENS
from kernels.measured_tables import LEAST_SHORT, ReleaseTables, fit_shapes, kinds, numbers
from kernels.writing import FittedTable

Mode = Literal["low_latency", "normal"]
MODES: tuple[Mode, ...] = ("low_latency", "normal")
EAGER = "_eager"  # the end of a kernel's name, outside of a graph: decode is in one
TOKEN_BYTES = 2 * LIKE_V3["hidden_size"]  # of a row that is summed
# a table of one server asks for no network
ALONE = {"network_bandwidth": 1.0, "network_alpha": 0.0, "network_efficiency": 1.0}
LINKS = ("devices_per_node", "full_mesh", "pair_bandwidth", "device_link_bandwidth", "switch_adds")
# of an exchange as it is measured: tokens alike for all ranks, and no shared experts
EVEN = {"shared_expert_ranks": 0, "n_shared_experts": 0}
MOST_NODES = 4  # that a token is sent to in the programs that measure, as in DeepSeek-V3
# as a table names what is dispatched -> the format of the catalogue, with its scales
SENT_AS = {"fp8": "fp8-row128", "bf16": "bf16", "nvfp4": "nvfp4"}
SHAPE = ("ranks", "nodes", "num_experts_per_tok", "n_routed_experts", "hidden_size", "tokens")
# multiprocessors that kernels are given: 20 is DeepEP's default, which engines keep; 0, an engine's
# own choice
SERVED = (0, 20)
LEAST_ROWS = 60  # there and back
TWICE = 2  # the least, from which on a table determines the time of an expert, or of a token
ACROSS = ("exchange_network_alpha", "exchange_network_efficiency")
# timed as calls from the host, outside of a graph, where decode is in one: with few tokens the time
# is the host's. Normal mode waits for the host in serving too, for how many tokens come
FROM_HOST = ("deepep_ll", "trtllm_deepep_ll")
# normal mode, servers whose rows are fitted: one, and as many as a token goes to at most. Over two
# the kernels are the bound and not the network: with 24 multiprocessors they take 13 to 15% less,
# over four the same. Over eight the table takes 3.5 times what it takes over four, DeepEP's authors
# 1.1 times (params/microbenchmarks/nvidia-h800.yml). Both are judged with the values of the others
NODES = (1, 4)


def all_reduce_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of an all-reduce within a server [s], by ``calc.physics.communication``.

    Args:
        columns: ``ranks`` [1] and ``bytes`` of the buffer of one rank [B]; of the card's node
            ``LINKS``, as the inputs of a step.
        parameters: of the law.

    Source: notebooks/communication.md, sections Five ways to add up and Large payloads: pipelines,
    and switches that add.
    """
    q = Inputs({**ALONE, **columns, **parameters})
    return np.asarray(all_reduce(q, group(q, columns["ranks"]), columns["bytes"]), float)


def exchange_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of one direction of an exchange of experts [s].

    Args:
        columns: ``ranks``, ``nodes``, ``num_experts_per_tok``, ``n_routed_experts`` [1], ``tokens``
            of a rank [token], ``token_bytes`` as they travel, scales included [B/token], and
            ``exchange_normal``, 1 where a token goes once to each node [1]; of the card's node
            ``LINKS`` and ``network_bandwidth``; parameters of ``_EXCHANGE`` that are not fitted.
        parameters: of the law.

    Source: notebooks/communication.md, section Tokens that travel to their experts; the routing:
    DeepEP, tests/test_internode.py.
    """
    ranks, nodes = columns["ranks"], columns["nodes"]
    values = {**ALONE, **EVEN, **columns, **parameters}
    q = Inputs(values | {
        "exchange_network_alpha": np.greater(nodes, 1) * values["exchange_network_alpha"],
        "devices_per_node": ranks / nodes, "expert_parallel": ranks, "n_group": nodes,
        "topk_group": np.minimum(nodes, MOST_NODES)})
    return np.asarray(
        exchange(q, group(q, ranks), columns["tokens"], columns["token_bytes"]), float)


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


def exchange_law(names: Container[str]) -> Law:
    """A law of an exchange there and back, with the parameters that a table determines.

    Args:
        names: of the parameters; the others are columns.
    """
    return Law("exchange", {name: bounds for name, bounds in _EXCHANGE.items() if name in names},
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
    "pipelined_efficiency": Bounds(0.65, 0.3, 0.8)}, all_reduce_time, begins=_ROUNDS)


def fitted_all_reduces(tables: ReleaseTables) -> Iterator[FittedTable]:
    """All-reduces of a release's own kernels within a server."""
    node = library.load("nodes", str(tables.device.node)) if tables.device.node else None
    table = tables.read(ALL_REDUCE.operator, (), LEAST_SHORT) if node else None
    if node is None or table is None:
        return
    links = inside_inputs(library.load("links", node.device_link)) | {
        "devices_per_node": node.devices_per_node.value}
    in_graphs = ~np.char.endswith(table["kernel"].astype(str), EAGER)
    table = table.select(in_graphs) if in_graphs.any() else table
    columns = numbers(table, ("ranks", "bytes"))
    yield FittedTable(
        tables.release, ALL_REDUCE.operator, ", ".join(table.distinct("kernel")), "bf16", "bf16",
        fit_shapes(ALL_REDUCE, table, columns, links, columns["bytes"] / TOKEN_BYTES, ("ranks",)))


def fitted_exchanges(tables: ReleaseTables) -> Iterator[FittedTable]:
    """Exchanges of experts of a release, of models with many of them."""
    there, back = (tables.read(operator, (), LEAST_SHORT) for operator in ("dispatch", "combine"))
    if there is None or back is None or tables.device.node is None:
        return
    there, back = (table.select((table["n_routed_experts"] >= LEAST_EXPERTS)
                                & (table["num_experts_per_tok"] >= LEAST_CHOSEN)
                                & (table["hidden_size"] >= LEAST_HIDDEN))
                   for table in (there, back))
    yield from exchanges(there, back, tables.device, tables.mechanisms, tables.release)


def exchanges(there: Table, back: Table, device: Device, mechanisms: Mechanisms, release: str
              ) -> Iterator[FittedTable]:
    """Exchanges of a release on a card, dispatch and combine as one, mode by mode.

    Args:
        there, back: its dispatches and combines, of models with many experts.
        device: the card.
        mechanisms: of the card; parameters that a table does not determine take their values.
        release: of the engine.
    """
    node = library.load("nodes", str(device.node))
    links = {**inside_inputs(library.load("links", node.device_link)),
             "network_bandwidth": network_bandwidth(node)}
    for mode in MODES:
        rows = there.select((there["mode"] == mode) & np.isin(there["multiprocessors"], SERVED)
                            & (there["tokens"] <= MOST_TOKENS))
        columns, time, kind = there_and_back(rows, back.select(back["mode"] == mode))
        if len(time) < LEAST_ROWS:
            continue
        columns |= links | {"exchange_normal": float(mode == "normal")}
        of_card = card_values(device, mechanisms, mode)
        kernel, dtype = ("/".join(rows.distinct(name)) for name in ("kernel", "dtype"))
        table = partial(FittedTable, release, "exchange", dtype=dtype, multiplied="bf16",
                        exchange=mode)
        if kernel in FROM_HOST:
            yield table(kernel=kernel, fit=_judged(columns, time, of_card))
            continue
        nodes = np.asarray(columns["nodes"])
        own = np.isin(nodes, NODES) | (mode != "normal")
        fitted = fitted_law(select(columns, own), time[own], kind[own], of_card)
        yield table(kernel=kernel, fit=fitted)
        for count in np.unique(nodes[~own]):
            at = nodes == count
            yield table(kernel=f"{kernel}, {count:.0f} servers", fit=_judged(
                select(columns, at), time[at], {**of_card, **fitted.values}))


def card_values(device: Device, mechanisms: Mechanisms, mode: Mode) -> dict[str, float]:
    """An exchange's values as the card's mechanisms and its network's link have them (SI).

    Args:
        device: the card.
        mechanisms: of the card.
        mode: of the exchange.
    """
    levels = getattr(mechanisms.all_to_all, mode)
    node = library.load("nodes", str(device.node))
    added = (library.load("links", node.network_link).exchange_alpha
             or library.load("links", USUAL_NETWORK).exchange_alpha)
    values = {"exchange_alpha": levels.node.alpha, "exchange_efficiency": levels.node.efficiency,
              "exchange_expert_time": levels.node.expert_time,
              "exchange_token_time": levels.node.token_time,
              "exchange_network_alpha": getattr(added, mode),
              "exchange_network_efficiency": levels.network.efficiency}
    return {name: value.value if value else 0.0 for name, value in values.items()}


def there_and_back(there: Table, back: Table
                    ) -> tuple[dict[str, Column | float], Column, NDArray[np.int64]]:
    """Columns and times [s] of dispatches with the combine of the same shape, and their kinds."""
    shapes, returns = (list(zip(*(table[name].tolist() for name in (*SHAPE, "multiprocessors")),
                                strict=True)) for table in (there, back))
    times = dict(zip(returns, back["time"].tolist(), strict=True))
    there = there.select(np.array([shape in times for shape in shapes], bool))
    returned = np.array([times[shape] for shape in shapes if shape in times], float)
    columns: dict[str, Column | float] = {name: there[name].astype(float) for name in SHAPE}
    element = np.array([library.load("formats", SENT_AS[dtype]).bytes_per_element
                        for dtype in there["dtype"].tolist()], float)
    columns["token_bytes"] = columns["hidden_size"] * element
    columns["back_bytes"] = (columns["hidden_size"]
                             * library.load("formats", "bf16").bytes_per_element)
    return columns, there["time"] + returned, kinds(
        [*(there[name] for name in SHAPE[:-1]), element])


def fitted_law(columns: Columns, time: Column, kind: NDArray[np.int64], of_card: dict[str, float]
            ) -> Fitted:
    """A law of the parameters that rows determine, with the card's values of the others.

    Rows of one server determine what is inside a server, the others what a network adds.
    """
    chosen = halves([np.asarray(columns[name]) for name in (*SHAPE, "token_bytes")])
    across = np.asarray(columns["nodes"]) > 1
    parts: list[Fitted] = []
    values: dict[str, float] = {}
    for rows in (~across, across):
        if rows.any():
            some = select(columns, rows)
            law = exchange_law(ACROSS if rows is across else inside(some))
            constants = {name: value for name, value in {**of_card, **values}.items()
                         if name not in law.parameters}
            parts.append(fit(law, {**some, **constants}, time[rows], chosen[rows],
                             np.asarray(some["tokens"]), kind[rows]))
            values |= parts[-1].values
    judged = _judged(select(columns, ~chosen), time[~chosen], {**of_card, **values})
    return replace(judged, law=exchange_law(values), values=values,
                   ranges={name: ends for part in parts for name, ends in part.ranges.items()},
                   fitted=sum(part.fitted for part in parts))


def inside(columns: Columns) -> set[str]:
    """Parameters that rows of one server determine: no time of a token where all have as many
    bytes, none of an expert where all have about as many of them."""
    varied = {"exchange_expert_time": "n_routed_experts", "exchange_token_time": "token_bytes"}
    return {"exchange_alpha", "exchange_efficiency"} | {
        name for name, column in varied.items()
        if np.max(columns[column]) >= TWICE * np.min(columns[column])}


def _judged(columns: Columns, time: Column, values: dict[str, float]) -> Fitted:
    """Values that were fitted to other rows, or by other means, on all of these."""
    law = exchange_law(())
    ratio = law.time(columns, values) / time
    return Fitted(law, {}, {}, 0, errors(ratio),
                  by_region(ratio, np.asarray(columns["tokens"])))
