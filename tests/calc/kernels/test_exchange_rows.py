"""Which rows of exchanges are held against a law, and what they have besides their shapes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import catalogue
from calc.kernels import exchanges as rows
from calc.kernels.communication import exchange_law, exchange_time, there_and_back_time
from calc.kernels.exchanges import FROM_HOST, card_values, exchanges
from calc.physics.communication import exchange
from calc.physics.timing.collectives import group
from catalogue.tables.table import joined, synthetic

H100 = catalogue.load_device("nvidia-h100-sxm")
PRIORS = catalogue.load("mechanisms", str(H100.mechanisms))
SHAPE = {"ranks": 8, "hidden_size": 7168, "n_routed_experts": 256, "num_experts_per_tok": 8,
         "mode": "low_latency", "kernel": FROM_HOST[0], "engine": "sglang@0.5.12"}
MANY = [*range(1, 61)]
LINKS = {"full_mesh": 0.0, "pair_bandwidth": 9.0, "device_link_bandwidth": 450e9,
         "switch_adds": 1.0}
VALUES = {"exchange_alpha": 2e-5, "exchange_efficiency": 0.6, "exchange_expert_time": 2e-8,
          "exchange_token_time": 1e-8, "exchange_network_alpha": 3e-5,
          "exchange_network_efficiency": 0.8}


def ways(**columns):
    """Dispatches in FP8 and combines in 16 bits of the same shapes, of 60 numbers of tokens."""
    return tuple(synthetic(operator, dtype=dtype, time=time, **SHAPE | {"tokens": MANY} | columns)
                 for operator, dtype, time in (("dispatch", "fp8", 2e-5),
                                               ("combine", "bf16", 3e-5)))


def told(*pairs):
    there, back = (joined(operator, [pair[at] for pair in pairs])
                   for at, operator in enumerate(("dispatch", "combine")))
    return list(exchanges(there, back, H100, PRIORS, "0.5.12"))


@pytest.mark.parametrize(("more", "counted"), [
    ({"multiprocessors": 20}, 60), ({"multiprocessors": 24}, 0), ({"multiprocessors": 1}, 0),
    ({"hidden_size": 4096}, 60), ({"tokens": [32768]}, 1), ({"tokens": [32769]}, 0)])
def test_rows_are_of_what_is_served_and_of_as_many_tokens_as_a_step_has(more, counted):
    (found,) = told(ways(), ways(**more))
    assert found.fit.errors.rows == 60 + counted


def test_sixty_rows_there_and_back_of_a_mode_are_told_and_fewer_are_not():
    assert [len(told(ways(tokens=MANY[:count]))) for count in (59, 60)] == [0, 1]
    there, back = ways()
    assert told((there, back.select(back.row > 1))) == []
    assert told((ways(mode="normal")[0], back)) == []  # what comes back is of another mode
    both = told(ways(), ways(mode="normal"))
    assert [each.exchange for each in both] == ["low_latency", "normal"]
    few = told(ways(tokens=[1, 2]), ways(mode="normal"))
    assert [each.exchange for each in few] == ["normal"]


def test_what_is_told_of_calls_from_the_host():
    (found,) = told(ways())
    assert (found.release, found.operator, found.cut, found.kernel, found.dtype, found.multiplied,
            found.gathered, found.experts, found.attention, found.exchange) == (
        "0.5.12", "exchange", None, FROM_HOST[0], "fp8", "bf16", None, (), None, "low_latency")
    assert (found.fit.values, found.fit.ranges, found.fit.fitted) == ({}, {}, 0)
    assert found.fit.covariance.shape == (0, 0)


@pytest.mark.parametrize(("dtype", "element"), [("fp8", 1 + 4 / 128), ("bf16", 2),
                                                ("nvfp4", 1 / 2 + 1 / 16)])
def test_a_dispatch_with_its_combine_is_one_row(dtype, element):
    """Times add; bytes are those of the format with its scales there, of 16 bits back."""
    there, back = (synthetic(operator, dtype=form, time=[1e-5 * scale, 2e-5 * scale],
                             **SHAPE | {"tokens": tokens})
                   for operator, form, scale, tokens in (("dispatch", dtype, 1, [4, 9]),
                                                         ("combine", "bf16", 10, [9, 5])))
    columns, time, kinds = rows._there_and_back(there, back)
    assert time.tolist() == pytest.approx([2e-5 + 1e-4])
    assert columns["tokens"].tolist() == [9]
    assert columns["token_bytes"].tolist() == pytest.approx([7168 * element])
    assert columns["back_bytes"].tolist() == [7168 * 2]
    assert kinds.tolist() == [0]


def test_kinds_are_told_apart_by_all_but_their_tokens():
    others = ({}, {"ranks": 16}, {"nodes": 2}, {"num_experts_per_tok": 4},
              {"n_routed_experts": 128}, {"hidden_size": 4096})
    pairs = [ways(**other, tokens=[1, 2, 3]) for other in others]
    columns, _, kinds = rows._there_and_back(*(joined(operator, [pair[at] for pair in pairs])
                                               for at, operator in enumerate(("dispatch",
                                                                              "combine"))))
    assert len(set(kinds.tolist())) == len(others)
    assert (kinds.reshape(-1, 3) == kinds[::3, None]).all()
    assert len(columns["tokens"]) == 3 * len(others)


@pytest.mark.parametrize(("experts", "sizes", "more"), [
    ((128, 255), (4096, 8191), set()), ((128, 256), (4096, 8191), {"exchange_expert_time"}),
    ((128, 255), (4096, 8192), {"exchange_token_time"}),
    ((128, 256), (4096, 8192), {"exchange_expert_time", "exchange_token_time"})])
def test_rows_of_one_server_tell_what_an_expert_and_a_token_take_where_they_differ_twofold(
        experts, sizes, more):
    found = rows._inside({"n_routed_experts": np.array(experts, float),
                          "token_bytes": np.array(sizes, float)})
    assert found == {"exchange_alpha", "exchange_efficiency"} | more


def test_of_a_card_each_mode_has_its_own_and_the_network_what_its_link_adds():
    for mode in ("low_latency", "normal"):
        levels = getattr(PRIORS.all_to_all, mode)
        link = catalogue.load_link("infiniband-400g")
        assert card_values(H100, PRIORS, mode) == {
            "exchange_alpha": levels.node.alpha.value,
            "exchange_efficiency": levels.node.efficiency.value,
            "exchange_expert_time": levels.node.expert_time.value,
            "exchange_token_time": levels.node.token_time.value,
            "exchange_network_alpha": getattr(link.exchange_alpha, mode).value,
            "exchange_network_efficiency": levels.network.efficiency.value}


def test_what_is_not_known_of_an_exchange_takes_no_time():
    """A network that says nothing of itself adds what the usual one does."""
    node = PRIORS.all_to_all.normal.node.model_copy(update={"token_time": None})
    normal = PRIORS.all_to_all.normal.model_copy(update={"node": node})
    bare = PRIORS.model_copy(update={"all_to_all": PRIORS.all_to_all.model_copy(
        update={"normal": normal})})
    found = card_values(H100, bare, "normal")
    assert found["exchange_token_time"] == 0
    assert found["exchange_expert_time"] == PRIORS.all_to_all.normal.node.expert_time.value


@pytest.mark.parametrize("normal", [0.0, 1.0])
@pytest.mark.parametrize("nodes", [1.0, 2.0, 8.0])
def test_an_exchange_over_any_number_of_servers_is_that_of_a_step(nodes, normal):
    """Tokens go to four servers at most; the network's own time is paid where there is one."""
    shape = {"num_experts_per_tok": 6.0, "n_routed_experts": 160.0, "exchange_normal": normal}
    columns = LINKS | shape | {"ranks": 4 * nodes, "nodes": nodes, "tokens": 37.0,
                               "token_bytes": 7000.0, "back_bytes": 14000.0,
                               "network_bandwidth": 2e9}
    q = SimpleNamespace(**LINKS | shape | VALUES | {
        "shared_expert_ranks": 0, "n_shared_experts": 0, "devices_per_node": 4.0,
        "expert_parallel": 4 * nodes, "network_bandwidth": 2e9, "n_group": nodes,
        "topk_group": min(nodes, 4.0),
        "exchange_network_alpha": VALUES["exchange_network_alpha"] if nodes > 1 else 0})
    there, back = (float(exchange(q, group(q, 4 * nodes), 37.0, size)) for size in (7000, 14000))
    assert float(exchange_time(columns, VALUES)) == pytest.approx(there)
    assert float(there_and_back_time(columns, VALUES)) == pytest.approx(there + back)


def test_a_law_tells_what_it_is_asked_and_holds_the_rest():
    law = exchange_law({"exchange_alpha", "exchange_network_efficiency"})
    assert (law.operator, [*law.parameters]) == (
        "exchange", ["exchange_alpha", "exchange_network_efficiency"])
    assert exchange_law(()).parameters == {}
