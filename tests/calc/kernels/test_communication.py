"""Laws of sums, gathers and exchanges: the functions of a step, and what a table of them tells."""

from types import SimpleNamespace

import numpy as np
import pytest

from calc.kernels.communication import LAWS, LINKS
from calc.physics.communication import exchange
from calc.physics.timing.collectives import all_gather, all_reduce, group

LAW = {law.operator: law for law in LAWS}
SWITCHED = dict(zip(LINKS, (8.0, 0.0, 450e9, 450e9, 1.0), strict=True))
RANKS = np.repeat([2.0, 4.0, 8.0], 15)
BYTES = np.tile(2.0 ** np.arange(14, 29), 3)


def columns(**others):
    return {name: np.full(RANKS.shape, value) for name, value in SWITCHED.items()} | {
        "ranks": RANKS, "bytes": BYTES, **others}


def starts(law):
    return {name: bounds.start for name, bounds in law.parameters.items()}


@pytest.mark.parametrize("operator", LAW)
def test_a_law_has_few_parameters_that_begin_within_their_bounds(operator):
    law = LAW[operator]
    assert 1 <= len(law.parameters) <= 6
    assert all(low < start < high for start, low, high in law.parameters.values())
    assert all(law.parameters[name].low < value < law.parameters[name].high
               for values in law.begins for name, value in values.items())


def test_sums_and_gathers_are_those_of_a_step():
    for operator, collective, share in (("all_reduce", all_reduce, 1), ("all_gather", all_gather,
                                                                        RANKS)):
        law = LAW[operator]
        taken = law.time(columns(), starts(law))
        q = SimpleNamespace(**SWITCHED, **starts(law), network_alpha=0.0, network_efficiency=1.0,
                            network_bandwidth=1.0)
        np.testing.assert_allclose(taken, [
            collective(q, group(q, ranks), payload)
            for ranks, payload in zip(RANKS, BYTES / share, strict=True)])


def test_what_a_parameter_moves_is_seen_in_the_table():
    """Each of them: none could be left out of a fit unnoticed."""
    for operator in ("all_reduce", "all_gather", "reduce_scatter"):
        law = LAW[operator]
        base = law.time(columns(), starts(law))
        for name, value in starts(law).items():
            assert (law.time(columns(), starts(law) | {name: 1.2 * value}) != base).any(), name


def test_an_exchange_is_that_of_a_step_and_pays_a_network_between_nodes_only():
    law, tokens = LAW["dispatch"], 128.0
    one = {**SWITCHED, "ranks": 8.0, "nodes": 1.0, "num_experts_per_tok": 8.0,
           "n_routed_experts": 256.0, "exchange_normal": 0.0, "tokens": tokens,
           "token_bytes": 7392.0, "network_bandwidth": 50e9}
    rows = {name: np.array([value, value]) for name, value in one.items()} | {
        "ranks": np.array([8.0, 16.0]), "nodes": np.array([1.0, 2.0])}
    near, far = law.time(rows, starts(law))
    q = SimpleNamespace(**one | starts(law) | {
        "exchange_network_alpha": 0.0, "shared_expert_ranks": 0, "n_shared_experts": 0,
        "expert_parallel": 8, "n_group": 1, "topk_group": 1})
    assert near == pytest.approx(exchange(q, group(q, 8.0), tokens, 7392.0))
    assert far - near > starts(law)["exchange_network_alpha"]
