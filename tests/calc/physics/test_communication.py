"""Collectives and exchanges of experts: lower bounds, and cases of two, eight and sixteen ranks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calc.physics.arrays import Inputs
from calc.physics.communication import (
    all_gather,
    all_reduce,
    exchange,
    expected_places,
    group,
    one_shot,
    pipelined,
    reduce_scatter,
    ring,
    there_and_back,
    tree,
    two_shot,
)

ROUNDING = 1e-9  # relative
# eight cards a node, linked pair by pair; two hundred gigabits a second between nodes
LINKS = {
    "devices_per_node": 8, "full_mesh": 1, "pair_bandwidth": 28e9,
    "device_link_bandwidth": 196e9, "network_bandwidth": 25e9, "collective_alpha": 1e-5,
    "second_round_alpha": 1e-5, "pipelined_alpha": 1e6, "pipelined_efficiency": 1.0,
    "switch_adds": 0, "gather_alpha": 1e-5, "gather_step_alpha": 0.0, "gather_efficiency": 1.0,
    "gather_bulk_alpha": 1e6, "gather_bulk_efficiency": 1.0, "n_routed_experts": 256,
    "exchange_expert_time": 0.0, "exchange_token_time": 0.0,
    "collective_efficiency": 1.0, "network_alpha": 2e-5, "network_efficiency": 1.0,
    "exchange_alpha": 5e-5, "exchange_efficiency": 1.0, "exchange_network_efficiency": 1.0,
    "exchange_normal": 0, "exchange_gathered": 0, "exchange_network_alpha": 0.0,
    "num_experts_per_tok": 8, "n_shared_experts": 1, "shared_expert_ranks": 0,
    "tensor_parallel": 1, "expert_parallel": 8, "expert_tensor_parallel": 0,
    "n_group": 1, "topk_group": 1}
LINKS_OF_ANY_KIND = st.fixed_dictionaries({
    "devices_per_node": st.sampled_from([1, 2, 4, 8, 16]), "full_mesh": st.integers(0, 1),
    "pair_bandwidth": st.floats(1e9, 1e11), "device_link_bandwidth": st.floats(1e10, 1e12),
    "network_bandwidth": st.floats(1e9, 1e11), "pipelined_alpha": st.floats(0, 1e-3),
    "gather_step_alpha": st.floats(0, 1e-5), "gather_bulk_alpha": st.floats(0, 1e-3),
    "num_experts_per_tok": st.integers(1, 16), "exchange_normal": st.integers(0, 1),
    **{f"{name}_alpha": st.floats(0, 1e-4) for name in ("collective", "network", "gather")},
    **{f"{name}_efficiency": st.floats(0.1, 1)
       for name in ("collective", "pipelined", "gather", "gather_bulk", "network")}})
PAYLOADS, RANKS, SEVERAL = st.floats(1, 1e9), st.integers(1, 64), st.integers(2, 64)


def network(given=None, **changes):
    return Inputs(LINKS | (given or {}) | changes)


def best_rate(q, g):
    """The faster of the levels that a group has, as its collectives reach it."""
    share = max(q.collective_efficiency, q.pipelined_efficiency, q.gather_efficiency,
                q.gather_bulk_efficiency)
    return max(float(g.inside_rate * share) if g.inside > 1 else 0.0,
               float(g.across_rate * q.network_efficiency) if g.across > 1 else 0.0)


class TestBounds:
    @given(LINKS_OF_ANY_KIND, SEVERAL, PAYLOADS)
    def test_collectives_respect_lower_bounds(self, given, n, payload):
        q = network(given)
        g = group(q, n)
        taken, rate = all_reduce(q, g, payload), best_rate(q, g)
        assert taken >= 2 * (n - 1) / n * payload / rate * (1 - ROUNDING)
        least = min(q.collective_alpha, q.pipelined_alpha)
        assert taken >= (least if g.across == 1 else 2 * q.network_alpha)
        received = (g.inside * g.across - 1) * payload  # the last node counts as full
        assert all_gather(q, g, payload) >= received / rate * (1 - ROUNDING)

    @given(LINKS_OF_ANY_KIND, RANKS, PAYLOADS, st.floats(1.001, 100))
    def test_collective_time_is_increasing_and_subadditive(self, given, n, payload, factor):
        q = network(given)
        g = group(q, n)
        for collective in (all_reduce, all_gather):
            small, large = (float(collective(q, g, size)) for size in (payload, payload * factor))
            assert small <= large * (1 + ROUNDING)
            assert large <= factor * small * (1 + ROUNDING)
            assert (small > 0) == (n > 1)
        assert reduce_scatter(q, g, payload) == pytest.approx(all_gather(q, g, payload))

    @given(LINKS_OF_ANY_KIND, SEVERAL, PAYLOADS)
    def test_switches_that_add_help_from_four_ranks_on(self, given, ranks, payload):
        """And never send less than the payload, which no adder needs less of."""
        around, added = (pipelined(q, group(q, ranks), payload) for q in (network(
            given, devices_per_node=ranks, pipelined_alpha=0.0, switch_adds=adds)
            for adds in (0, 1)))
        assert (added < around) == (ranks > 3)
        q = network(given, devices_per_node=ranks)
        least = payload / (group(q, ranks).inside_rate * q.pipelined_efficiency)
        assert added >= min(least, around) * (1 - ROUNDING)


class TestCases:
    def test_two_ranks(self):
        """56 MB at 28 GB/s take 2 ms: once in one shot, in two shots or around a ring."""
        q = network()
        g, payload = group(q, 2), 56e6
        assert (g.inside, g.across, g.inside_rate) == (2, 1, 28e9)
        assert one_shot(q, g, payload) == pytest.approx(1e-5 + 2e-3)
        assert two_shot(q, g, payload) == pytest.approx(2e-5 + 2e-3)
        assert ring(1e-5, 2, payload, 28e9) == pytest.approx(2e-5 + 2e-3)
        assert tree(1e-5, 2, payload, 28e9) == pytest.approx(2e-5 + 4e-3)
        assert all_reduce(q, g, payload) == all_gather(q, g, payload) == pytest.approx(1e-5 + 2e-3)

    def test_eight_ranks(self):
        """Seven links at once: 2 x 7/8 of 112 MB at 196 GB/s are 1 ms, and two latencies."""
        q = network()
        g = group(q, 8)
        assert g.inside_rate == 196e9
        assert two_shot(q, g, 112e6) == pytest.approx(2e-5 + 1e-3)
        assert one_shot(q, g, 112e6) == pytest.approx(1e-5 + 4e-3)
        assert all_reduce(q, g, 112e6) == two_shot(q, g, 112e6)
        assert all_reduce(q, g, 1e3) == one_shot(q, g, 1e3)  # small ones: latency decides

    def test_two_nodes(self):
        """Each of 8 cards reduces an eighth of 112 MB with its twin: 14 MB at 25 GB/s."""
        q = network()
        g = group(q, 16)
        assert (g.inside, g.across) == (8, 2)
        assert all_reduce(q, g, 112e6) == pytest.approx(2e-5 + 1e-3 + 2 * 2e-5 + 14e6 / 25e9)
        for ranks, mesh in ((2, 28e9), (4, 84e9), (8, 196e9)):
            assert group(q, ranks).inside_rate == mesh
            assert group(network(full_mesh=0), ranks).inside_rate == 196e9


class TestExchange:
    @pytest.mark.parametrize(("normal", "copies"), [(0, 8), (1, 2 * (1 - 0.5**8))])
    def test_copies_that_cross_between_two_nodes(self, normal, copies):
        """Two nodes of 8: half of 8 copies cross, or one of the token's 2 - 2/256 nodes."""
        q = network(exchange_alpha=0.0, exchange_normal=normal)
        assert exchange(q, group(q, 16), 100.0, 7168.0) == pytest.approx(
            716_800 * copies / 2 / 25e9)
        timed = network(exchange_expert_time=1e-8, exchange_token_time=2e-8, exchange_alpha=0.0,
                        exchange_normal=normal)
        assert exchange(timed, group(q, 16), 100.0, 7168.0) == pytest.approx(
            exchange(q, group(q, 16), 100.0, 7168.0) + 256 * 1e-8 + 100 * 2e-8)
        assert exchange(timed, group(q, 1), 100.0, 7168.0) == 0

    @given(LINKS_OF_ANY_KIND, st.integers(0, 4), st.integers(0, 4), PAYLOADS)
    def test_sending_once_per_node_never_loads_the_network_more(self, given, nodes, cards, payload):
        times = []
        for normal in (0, 1):  # the network alone decides
            q = network(given, devices_per_node=2**cards, exchange_efficiency=1e9,
                        exchange_normal=normal)
            times.append(float(exchange(q, group(q, 2 ** (nodes + cards)), 1.0, payload)))
        assert times[1] <= times[0] * (1 + 1e-6)

    @given(LINKS_OF_ANY_KIND, RANKS, PAYLOADS, st.floats(1, 4), st.floats(1, 4))
    def test_gathered_exchange_waits_for_the_fullest_sender(
            self, given, ranks, payload, most, load):
        q = network(given)
        g, widths, loads = group(q, ranks), (payload, 2 * payload), (1.5, 1.2)
        assert there_and_back(q, g, 3.0, widths, 1.0, loads) == pytest.approx(
            tuple(exchange(q, g, 3.0, width, *loads) for width in widths))
        q = network(given, exchange_gathered=1, gather_alpha=0.0, network_alpha=0.0,
                    gather_step_alpha=0.0, gather_bulk_alpha=0.0)
        even = there_and_back(q, g, 1.0, (payload, payload), 1.0, (1.0, 1.0))
        assert there_and_back(q, g, 1.0, (payload, payload), 1.0, (load, load)) == even
        assert there_and_back(q, g, 1.0, (payload, payload), most, (1.0, 1.0)) == pytest.approx(
            tuple(most * way for way in even))

    @given(st.sampled_from([1, 2, 3, 4, 8, 16, 32]), st.integers(1, 16), st.integers(1, 8))
    def test_groups_keep_a_token_on_fewer_places(self, places, k, picked):
        few, every = (expected_places(network(num_experts_per_tok=k, n_group=8, topk_group=groups),
                                      places) for groups in (picked, 8))
        assert 1 - ROUNDING <= few <= every * (1 + ROUNDING)
        assert few <= min(places, k) * (1 + ROUNDING)
        if 8 % places == 0:
            assert every == pytest.approx(places * (1 - (1 - 1 / places) ** k))
        q = network(n_group=8, topk_group=4)
        assert expected_places(q, 8) == pytest.approx(4 * (1 - 0.75**8))
        assert expected_places(q, 16) == pytest.approx(8 * (1 - (7 / 8) ** 8))
