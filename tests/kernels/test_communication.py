"""Laws of collectives and exchanges of experts: those of a step, and what a table tells of them."""

from __future__ import annotations

import numpy as np
import pytest
from _tables import synthetic

import catalogue
from calc.physics.arrays import Inputs
from calc.physics.communication import all_reduce, exchange, group
from catalogue.tables import joined
from kernels.collectives import (
    ACROSS,
    ALL_REDUCE,
    LINKS,
    MODES,
    card_values,
    exchange_law,
    exchange_time,
    exchanges,
    there_and_back_time,
)

SWITCHED = dict(zip(LINKS, (8.0, 0.0, 450e9, 450e9, 1.0), strict=True))
RANKS = np.repeat([2.0, 4.0, 8.0], 15)
BYTES = np.tile(2.0 ** np.arange(14, 29), 3)
H100 = catalogue.load_device("nvidia-h100-sxm")
PRIORS = catalogue.load("mechanisms", str(H100.mechanisms))
LINK = catalogue.load_link(catalogue.load_node(str(H100.node)).device_link)
MESH = {"full_mesh": 0.0, "pair_bandwidth": LINK.device_bandwidth.value,
        "device_link_bandwidth": LINK.device_bandwidth.value, "switch_adds": 1.0,
        "network_bandwidth": 50e9}
TOKENS = [1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
TRUE = {"exchange_alpha": 2e-5, "exchange_efficiency": 0.6, "exchange_expert_time": 2e-8,
        "exchange_token_time": 1e-8, "exchange_network_alpha": 3e-5,
        "exchange_network_efficiency": 0.8}
WIDTH = {"dispatch": 1 + 4 / 128, "combine": 2.0}  # bytes of an element: FP8 with scales of 128


def test_collective_equals_that_of_a_step():
    starts = {name: bounds.start for name, bounds in ALL_REDUCE.parameters.items()}
    q = Inputs({**SWITCHED, **starts, "network_alpha": 0.0, "network_efficiency": 1.0,
                "network_bandwidth": 1.0})
    columns = {name: np.full(RANKS.shape, value) for name, value in SWITCHED.items()} | {
        "ranks": RANKS, "bytes": BYTES}
    np.testing.assert_allclose(ALL_REDUCE.time(columns, starts), [
        all_reduce(q, group(q, ranks), payload)
        for ranks, payload in zip(RANKS, BYTES, strict=True)])


@pytest.mark.parametrize("normal", [0.0, 1.0])
@pytest.mark.parametrize("nodes", [1.0, 2.0, 8.0])
def test_exchange_equals_that_of_a_step(nodes, normal):
    """Tokens go to four servers at most; the network's own time is paid where there is one."""
    shape = {"num_experts_per_tok": 6.0, "n_routed_experts": 160.0, "exchange_normal": normal}
    table = MESH | shape | {"ranks": 4 * nodes, "nodes": nodes, "tokens": 37.0,
                            "token_bytes": 7000.0, "back_bytes": 14000.0}
    q = Inputs(MESH | shape | TRUE | {
        "shared_expert_ranks": 0, "n_shared_experts": 0, "devices_per_node": 4.0,
        "expert_parallel": 4 * nodes, "n_group": nodes, "topk_group": min(nodes, 4.0),
        "exchange_network_alpha": TRUE["exchange_network_alpha"] * (nodes > 1)})
    there, back = (float(exchange(q, group(q, 4 * nodes), 37.0, size)) for size in (7000, 14000))
    assert float(exchange_time(table, TRUE)) == pytest.approx(there)
    assert float(there_and_back_time(table, TRUE)) == pytest.approx(there + back)
    held = exchange_law({"exchange_alpha"}).time(table | TRUE, {"exchange_alpha": 2e-5})
    assert float(held) == pytest.approx(there + back)


# --- tables of exchanges --------------------------------------------------------------------------


def table(operator, mode, nodes, kernel="deepep", experts=(128, 256, 512), **changed):
    """Rows as the law itself times them."""
    shapes = [(count, tokens, hidden, routed) for count in nodes for tokens in TOKENS
              for hidden in (3072, 7168) for routed in experts]
    count, tokens, hidden, routed = (np.array(column, float) for column in zip(
        *shapes, strict=True))
    given = {"nodes": count, "ranks": 8 * count, "tokens": tokens, "hidden_size": hidden,
             "n_routed_experts": routed, "num_experts_per_tok": np.full(len(shapes), 8.0)}
    time = exchange_time({**given, **MESH, "token_bytes": hidden * WIDTH[operator],
                          "exchange_normal": float(mode == "normal")}, TRUE)
    return synthetic(operator, card=H100.id, engine="sglang@0.5.12", kernel=kernel, mode=mode,
                     dtype={"dispatch": "fp8", "combine": "bf16"}[operator], time=time,
                     **given | changed)


def found(mode, nodes, more=(), **others):
    """Laws of dispatches with their combines, beside tables that differ by ``more``."""
    there, back = (joined(operator, [table(operator, mode, nodes, **others), *(
        table(operator, mode, nodes, **others | each) for each in more)])
        for operator in ("dispatch", "combine"))
    return list(exchanges(there, back, H100, PRIORS, "0.5.12"))


@pytest.mark.parametrize("mode", MODES)
def test_fit_recovers_an_exchange_and_no_server_moves_the_network(mode):
    (both,), (inside,) = found(mode, (1, 4)), found(mode, (1,))
    assert both.exchange == mode
    assert both.fit.values == pytest.approx(TRUE, rel=0.02)
    assert both.fit.errors.most < 0.01
    assert inside.fit.values.keys() == TRUE.keys() - set(ACROSS)
    assert inside.fit.values == {name: both.fit.values[name] for name in inside.fit.values}
    before = card_values(H100, PRIORS, mode)
    assert before.keys() == TRUE.keys()
    assert before["exchange_alpha"] == getattr(PRIORS.all_to_all, mode).node.alpha.value
