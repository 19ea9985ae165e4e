"""Exchanges of experts in tables: what is taken of them, there and back, fitted mode by mode."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from calc.kernels.communication import exchange_law
from calc.kernels.fitting import Fitted, by_region, errors, fit, halves
from calc.kernels.law import Column, Columns, select
from calc.kernels.writing import Table as FittedTable
from catalogue import library
from catalogue.deployments.physics_inputs import USUAL_NETWORK, inside_inputs, network_bandwidth
from catalogue.entries.hardware import Device
from catalogue.entries.mechanisms import Mechanisms
from catalogue.tables import Table

Mode = Literal["low_latency", "normal"]
MODES: tuple[Mode, ...] = ("low_latency", "normal")
# as a table names what is dispatched -> the format of the catalogue, with its scales
SENT_AS = {"fp8": "fp8-row128", "bf16": "bf16", "nvfp4": "nvfp4"}
BACK_AS = "bf16"
SHAPE = ("ranks", "nodes", "num_experts_per_tok", "n_routed_experts", "hidden_size", "tokens")
# multiprocessors that kernels are given: 20 is DeepEP's default, which engines keep; 0, an engine's
# own choice
SERVED = (0, 20)
MOST_TOKENS = 32768
LEAST_ROWS = 60  # there and back
TWICE = 2  # the least, from which on a table tells what an expert takes, or a token
ACROSS = ("exchange_network_alpha", "exchange_network_efficiency")
# timed as calls from the host, outside of a graph, where decode is in one: with few tokens the time
# is the host's. Normal mode waits for the host in serving too, for how many tokens come
FROM_HOST = ("deepep_ll", "trtllm_deepep_ll")
# normal mode, servers whose rows are fitted: one, and as many as a token goes to at most. Over two
# the kernels are the bound and not the network: with 24 multiprocessors they take 13 to 15% less,
# over four the same. Over eight the table takes 3.5 times what it takes over four, DeepEP's authors
# 1.1 times (params/microbenchmarks/nvidia-h800.yml). Both are judged with the values of the others
NODES = (1, 4)


def exchanges(there: Table, back: Table, device: Device, priors: Mechanisms, release: str
              ) -> Iterator[FittedTable]:
    """Exchanges of an engine's release on a card, dispatch and combine as one, mode by mode.

    Args:
        there, back: its dispatches and combines, of models with many experts.
        device: the card.
        priors: its mechanisms, whose values are judged on the same rows.
        release: of the engine.
    """
    for mode in MODES:
        rows = there.select((there["mode"] == mode) & np.isin(there["multiprocessors"], SERVED)
                            & (there["tokens"] <= MOST_TOKENS))
        columns, time, kinds = _there_and_back(rows, back.select(back["mode"] == mode))
        if len(time) < LEAST_ROWS:
            continue
        columns |= _links(device) | {"exchange_normal": float(mode == "normal")}
        alone = card_values(device, priors, mode)
        kernel, dtype = ("/".join(rows.distinct(name)) for name in ("kernel", "dtype"))
        table = partial(FittedTable, release, "exchange", None, dtype=dtype, multiplied="bf16",
                        gathered=None, experts=(), exchange=mode)
        if kernel in FROM_HOST:
            yield table(kernel=kernel, fit=_judged(columns, time, alone))
            continue
        nodes = np.asarray(columns["nodes"])
        own = np.isin(nodes, NODES) | (mode != "normal")
        found = _fitted(select(columns, own), time[own], kinds[own], alone)
        yield table(kernel=kernel, fit=found)
        for count in np.unique(nodes[~own]):
            at, values = nodes == count, {**alone, **found.values}
            before = _judged(select(columns, at), time[at], alone).errors
            judged = _judged(select(columns, at), time[at], values)
            yield table(kernel=f"{kernel}, {count:.0f} servers", fit=replace(judged, before=before))


def card_values(device: Device, priors: Mechanisms, mode: Mode) -> dict[str, float]:
    """An exchange's values as the card's mechanisms and its network's link have them (SI).

    Args:
        device: the card.
        priors: its mechanisms.
        mode: of the exchange.
    """
    levels = getattr(priors.all_to_all, mode)
    node = library.load("nodes", str(device.node))
    added = (library.load("links", node.network_link).exchange_alpha
             or library.load("links", USUAL_NETWORK).exchange_alpha)
    own = {"exchange_alpha": levels.node.alpha, "exchange_efficiency": levels.node.efficiency,
           "exchange_expert_time": levels.node.expert_time,
           "exchange_token_time": levels.node.token_time,
           "exchange_network_alpha": getattr(added, mode),
           "exchange_network_efficiency": levels.network.efficiency}
    return {name: value.value if value else 0.0 for name, value in own.items()}


def _links(device: Device) -> dict[str, Column | float]:
    """What a step reads of the links of a card's server."""
    node = library.load("nodes", str(device.node))
    return {**inside_inputs(library.load("links", node.device_link)),
            "network_bandwidth": network_bandwidth(node)}


def _there_and_back(there: Table, back: Table
                    ) -> tuple[dict[str, Column | float], Column, NDArray[np.int64]]:
    """Columns and times [s] of dispatches with the combine of the same shape, and their kinds."""
    names = (*SHAPE, "multiprocessors")
    known = dict(zip(zip(*(back[name].tolist() for name in names), strict=True),
                     back["time"].tolist(), strict=True))
    keys = list(zip(*(there[name].tolist() for name in names), strict=True))
    both = np.array([key in known for key in keys], bool)
    there = there.select(both)
    returned = np.array([known[key] for key in keys if key in known], float)
    columns: dict[str, Column | float] = {name: there[name].astype(float) for name in SHAPE}
    sizes = {dtype: library.load("formats", SENT_AS[dtype]).bytes_per_element
             for dtype in there.distinct("dtype")}
    element = np.array([sizes[dtype] for dtype in there["dtype"].tolist()], float)
    columns["token_bytes"] = columns["hidden_size"] * element
    columns["back_bytes"] = (columns["hidden_size"]
                             * library.load("formats", BACK_AS).bytes_per_element)
    kinds = np.unique(np.stack([*(there[name] for name in SHAPE[:-1]), element]), axis=1,
                      return_inverse=True)[1].ravel()
    return columns, there["time"] + returned, kinds


def _fitted(columns: Columns, time: Column, kinds: NDArray[np.int64], alone: dict[str, float]
            ) -> Fitted:
    """A law of what the rows tell; of the rest the card's values are held.

    What is inside a server is told by rows of one, what a network adds by the others: neither
    speaks for the other.
    """
    apart = ~halves([np.asarray(columns[name]) for name in (*SHAPE, "token_bytes")])
    across = np.asarray(columns["nodes"]) > 1
    parts: list[Fitted] = []
    values: dict[str, float] = {}
    for at in (~across, across):
        if at.any():
            told = ACROSS if at is across else _inside(select(columns, at))
            parts.append(_part(columns, time, kinds, at, {**alone, **values}, told))
            values |= parts[-1].values
    judged = _judged(select(columns, apart), time[apart], {**alone, **values})
    before = _judged(select(columns, apart), time[apart], alone).errors
    return replace(judged, law=exchange_law(values), values=values, before=before,
                   ranges={name: ends for part in parts for name, ends in part.ranges.items()},
                   covariance=np.asarray(block_diag(*(part.covariance for part in parts))),
                   fitted=sum(part.fitted for part in parts))


def _inside(columns: Columns) -> set[str]:
    """What rows of one server tell: no time of a token where all have as many bytes, none of an
    expert where all have about as many of them."""
    experts, bytes_ = (np.asarray(columns[name]) for name in ("n_routed_experts", "token_bytes"))
    return ({"exchange_alpha", "exchange_efficiency"}
            | ({"exchange_expert_time"} if experts.max() >= TWICE * experts.min() else set())
            | ({"exchange_token_time"} if bytes_.max() >= TWICE * bytes_.min() else set()))


def _part(columns: Columns, time: Column, kinds: NDArray[np.int64], at: NDArray[np.bool_],
          values: dict[str, float], told: Container[str]) -> Fitted:
    """Some parameters fitted to some rows, with values of the others that are held."""
    law, some = exchange_law(told), select(columns, at)
    held = {name: value for name, value in values.items() if name not in law.parameters}
    shapes = [np.asarray(some[name]) for name in (*SHAPE, "token_bytes")]
    return fit(law, {**some, **held}, time[at], halves(shapes), np.asarray(some["tokens"]),
               kinds[at])


def _judged(columns: Columns, time: Column, values: dict[str, float]) -> Fitted:
    """Values that were fitted to other rows, or by other means, on all of these."""
    law = exchange_law(())
    ratio = law.time(columns, values) / time
    return Fitted(law, {}, {}, np.zeros((0, 0)), 0, errors(ratio),
                  by_region(ratio, np.asarray(columns["tokens"])))
