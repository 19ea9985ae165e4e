"""Collectives and exchanges of experts: bounds that nothing beats, and cases worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calc.physics.communication import exchange, expected_places, there_and_back
from calc.physics.timing.collectives import (
    all_gather,
    all_reduce,
    group,
    one_shot,
    pipelined,
    reduce_scatter,
    ring,
    tree,
    two_shot,
)

ROUNDING = 1e-9  # relative


def network(**changes):
    """Eight cards a node, linked pair by pair; two hundred gigabits a second between nodes."""
    return SimpleNamespace(**{
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
        "n_group": 1, "topk_group": 1} | changes)


NETWORKS = st.builds(
    network, devices_per_node=st.sampled_from([1, 2, 4, 8, 16]), full_mesh=st.integers(0, 1),
    pair_bandwidth=st.floats(1e9, 1e11), device_link_bandwidth=st.floats(1e10, 1e12),
    network_bandwidth=st.floats(1e9, 1e11), collective_alpha=st.floats(0, 1e-4),
    network_alpha=st.floats(0, 1e-4), collective_efficiency=st.floats(0.1, 1),
    pipelined_alpha=st.floats(0, 1e-3), pipelined_efficiency=st.floats(0.1, 1),
    gather_alpha=st.floats(0, 1e-4), gather_step_alpha=st.floats(0, 1e-5),
    gather_efficiency=st.floats(0.1, 1), gather_bulk_alpha=st.floats(0, 1e-3),
    gather_bulk_efficiency=st.floats(0.1, 1),
    network_efficiency=st.floats(0.1, 1), num_experts_per_tok=st.integers(1, 16),
    exchange_normal=st.integers(0, 1))
PAYLOADS = st.floats(1, 1e9)
RANKS, SEVERAL = st.integers(1, 64), st.integers(2, 64)


def best_rate(q, g):
    """The faster of the levels that a group has, as its collectives reach it."""
    share = max(q.collective_efficiency, q.pipelined_efficiency, q.gather_efficiency,
                q.gather_bulk_efficiency)
    return max(float(g.inside_rate * share) if g.inside > 1 else 0.0,
               float(g.across_rate * q.network_efficiency) if g.across > 1 else 0.0)


class TestCollectives:
    """Bounds that no algorithm beats, and cases worked out by hand."""

    @given(NETWORKS, SEVERAL, PAYLOADS)
    def test_no_all_reduce_beats_the_least_that_each_rank_must_send(self, q, n, payload):
        """2 (n - 1)/n payloads, and two latencies, or one where all see all at once."""
        g = group(q, n)
        taken = all_reduce(q, g, payload)
        assert taken >= 2 * (n - 1) / n * payload / best_rate(q, g) * (1 - ROUNDING)
        least = min(q.collective_alpha, q.pipelined_alpha)
        assert taken >= (least if g.across == 1 else 2 * q.network_alpha)

    @given(NETWORKS, SEVERAL, PAYLOADS)
    def test_no_all_gather_beats_what_each_rank_must_receive(self, q, n, payload):
        g = group(q, n)
        received = (g.inside * g.across - 1) * payload  # the last node counts as full
        assert all_gather(q, g, payload) >= received / best_rate(q, g) * (1 - ROUNDING)

    @given(NETWORKS, PAYLOADS)
    def test_one_rank_sends_nothing(self, q, payload):
        assert all_reduce(q, group(q, 1), payload) == all_gather(q, group(q, 1), payload) == 0

    @given(NETWORKS, SEVERAL, PAYLOADS, st.floats(1.001, 100))
    def test_larger_payloads_take_longer_but_less_each(self, q, n, payload, factor):
        g = group(q, n)
        for collective in (all_reduce, all_gather):
            small, large = (float(collective(q, g, size)) for size in (payload, payload * factor))
            assert small <= large * (1 + ROUNDING)
            assert large <= factor * small * (1 + ROUNDING)

    def test_two_ranks_by_hand(self):
        """56 MB at 28 GB/s take 2 ms: once in one shot, in two shots or around a ring."""
        q = network()
        g, payload = group(q, 2), 56e6
        assert (g.inside, g.across, g.inside_rate) == (2, 1, 28e9)
        assert one_shot(q, g, payload) == pytest.approx(1e-5 + 2e-3)
        assert two_shot(q, g, payload) == pytest.approx(2e-5 + 2e-3)
        assert ring(1e-5, 2, payload, 28e9) == pytest.approx(2e-5 + 2e-3)
        assert tree(1e-5, 2, payload, 28e9) == pytest.approx(2e-5 + 4e-3)
        assert all_reduce(q, g, payload) == pytest.approx(1e-5 + 2e-3)
        assert all_gather(q, g, payload) == pytest.approx(1e-5 + 2e-3)

    def test_eight_ranks_by_hand(self):
        """Seven links at once: 2 x 7/8 of 112 MB at 196 GB/s are 1 ms, and two latencies."""
        q = network()
        g = group(q, 8)
        assert g.inside_rate == 196e9
        assert two_shot(q, g, 112e6) == pytest.approx(2e-5 + 1e-3)
        assert one_shot(q, g, 112e6) == pytest.approx(1e-5 + 4e-3)
        assert all_reduce(q, g, 112e6) == two_shot(q, g, 112e6)
        assert all_reduce(q, g, 1e3) == one_shot(q, g, 1e3)  # small ones: latency decides

    def test_a_pipeline_by_hand(self):
        """112 MB over eight: 2 x 7/8 of them around rings, 9/8 where the switches add."""
        q = network(pipelined_alpha=5e-5, pipelined_efficiency=0.7, full_mesh=0)
        g, rate = group(q, 8), 0.7 * 196e9
        assert pipelined(q, g, 112e6) == pytest.approx(5e-5 + 196e6 / rate)
        q.switch_adds = 1
        assert pipelined(q, g, 112e6) == pytest.approx(5e-5 + 126e6 / rate)
        assert all_reduce(q, g, 112e6) == pipelined(q, g, 112e6)

    @given(NETWORKS, st.integers(2, 64), PAYLOADS)
    def test_switches_that_add_help_from_four_ranks_on(self, q, ranks, payload):
        """And never send less than the payload, which no adder needs less of."""
        q.devices_per_node, q.pipelined_alpha = ranks, 0.0
        around, added = (pipelined(q, group(q, ranks), payload) for q.switch_adds in (0, 1))
        assert (added < around) == (ranks > 3)
        least = payload / (group(q, ranks).inside_rate * q.pipelined_efficiency)
        assert added >= min(least, around) * (1 - ROUNDING)

    def test_gathering_by_hand(self):
        """Seven steps of a ring for what is small, a pipeline for what is large."""
        q = network(full_mesh=0, gather_step_alpha=1e-6, gather_efficiency=0.25,
                    gather_bulk_alpha=3e-5, gather_bulk_efficiency=0.5)
        g = group(q, 8)
        assert all_gather(q, g, 0.0) == pytest.approx(1e-5 + 7e-6)
        assert all_gather(q, g, 28e6) == pytest.approx(3e-5 + 7 * 28e6 / 98e9)
        assert reduce_scatter(q, g, 28e3) == pytest.approx(1.7e-5 + 7 * 28e3 / 49e9)

    def test_an_exchange_asks_experts_and_tokens_too(self):
        q = network(exchange_expert_time=1e-8, exchange_token_time=2e-8)
        plain = exchange(network(), group(q, 8), 100.0, 7168.0)
        assert exchange(q, group(q, 8), 100.0, 7168.0) == pytest.approx(
            plain + 256 * 1e-8 + 100 * 2e-8)
        assert exchange(q, group(q, 1), 100.0, 7168.0) == 0

    def test_two_nodes_by_hand(self):
        """Each of 8 cards reduces an eighth of 112 MB with its twin: 14 MB at 25 GB/s."""
        q = network()
        g = group(q, 16)
        assert (g.inside, g.across) == (8, 2)
        assert all_reduce(q, g, 112e6) == pytest.approx(2e-5 + 1e-3 + 2 * 2e-5 + 14e6 / 25e9)

    def test_a_mesh_shares_its_links_and_a_switch_does_not(self):
        for ranks, mesh in ((2, 28e9), (4, 84e9), (8, 196e9)):
            assert group(network(), ranks).inside_rate == mesh
            assert group(network(full_mesh=0), ranks).inside_rate == 196e9

    @given(NETWORKS, st.integers(0, 4), st.integers(0, 4), PAYLOADS)
    def test_sending_once_per_node_never_loads_the_network_more(self, q, nodes, cards, payload):
        q.devices_per_node = 2**cards
        g = group(q, 2 ** (nodes + cards))
        q.exchange_efficiency = 1e9  # the network alone decides
        times = []
        for q.exchange_normal in (0, 1):
            times.append(float(exchange(q, g, 1.0, payload)))
        assert times[1] <= times[0] * (1 + 1e-6)

    @given(NETWORKS, RANKS, PAYLOADS)
    def test_scattering_is_gathering_backwards(self, q, ranks, payload):
        g = group(q, ranks)
        assert reduce_scatter(q, g, payload) == pytest.approx(all_gather(q, g, payload))
        assert ranks > 1 or reduce_scatter(q, g, payload) == 0

    @given(NETWORKS, st.integers(2, 16), PAYLOADS)
    def test_two_rounds_are_an_all_reduce(self, q, ranks, payload):
        q.devices_per_node = ranks
        g = group(q, ranks)
        q.gather_alpha = q.second_round_alpha = q.collective_alpha
        q.gather_efficiency, q.gather_step_alpha = q.collective_efficiency, 0.0
        q.gather_bulk_alpha = 1e6
        both = reduce_scatter(q, g, payload / ranks) + all_gather(q, g, payload / ranks)
        assert both == pytest.approx(two_shot(q, g, payload))

    @given(st.integers(2, 64), st.integers(1, 16), PAYLOADS)
    def test_gathering_sends_as_much_as_copies_to_as_many_experts_as_ranks(self, ranks, k, payload):
        """Inside a node: e - 1 tokens arrive, or k (1 - 1/e)."""
        q = network(full_mesh=0, devices_per_node=ranks, num_experts_per_tok=k, exchange_alpha=0.0,
                    gather_alpha=0.0)
        sent = [sum(there_and_back(q, group(q, ranks), 1.0, (payload, 2 * payload), 1.0,
                                   (1.0, 1.0))) for q.exchange_gathered in (0, 1)]
        assert sent[1] / sent[0] == pytest.approx(ranks / k)

    @given(NETWORKS, RANKS, PAYLOADS, st.floats(1, 4), st.floats(1, 4))
    def test_gathering_waits_for_the_fullest_sender_alone(self, q, ranks, payload, most, load):
        q.exchange_gathered, q.gather_alpha, q.network_alpha = 1, 0.0, 0.0
        q.gather_step_alpha, q.gather_bulk_alpha = 0.0, 0.0
        g, width = group(q, ranks), (payload, payload)
        even = there_and_back(q, g, 1.0, width, 1.0, (1.0, 1.0))
        assert there_and_back(q, g, 1.0, width, 1.0, (load, load)) == even
        assert there_and_back(q, g, 1.0, width, most, (1.0, 1.0)) == pytest.approx(
            tuple(most * way for way in even))

    @given(NETWORKS, RANKS, PAYLOADS)
    def test_there_and_back_is_one_way_and_the_other(self, q, ranks, payload):
        g, widths, loads = group(q, ranks), (payload, 2 * payload), (1.5, 1.2)
        ways = tuple(exchange(q, g, 3.0, width, *loads) for width in widths)
        assert there_and_back(q, g, 3.0, widths, 1.0, loads) == pytest.approx(ways)

    def test_an_array_of_ways_to_exchange_is_each_by_itself(self):
        q = network(devices_per_node=8)
        normal, gathered = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])

        def exchanged(normal, gathered):
            q.exchange_normal, q.exchange_gathered = normal, gathered
            return there_and_back(q, group(q, 32), 64.0, (7168.0, 14336.0), 1.0, (1.5, 1.2))

        np.testing.assert_array_equal(np.transpose(exchanged(normal, gathered)), [
            exchanged(*ways) for ways in zip(normal, gathered, strict=True)])

    def test_an_exchange_by_hand(self):
        """Two nodes of 8: half of 8 copies cross, or one of the token's 2 - 2/256 nodes."""
        q = network(exchange_alpha=0.0)
        g = group(q, 16)
        assert exchange(q, g, 100.0, 7168.0) == pytest.approx(8 * 716800 / 2 / 25e9)
        q.exchange_normal = 1
        nodes = 2 * (1 - 0.5**8)
        assert exchange(q, g, 100.0, 7168.0) == pytest.approx(716800 * nodes / 2 / 25e9)
        assert exchange(q, group(q, 1), 100.0, 7168.0) == 0

    @given(st.integers(2, 64), st.integers(1, 16))
    def test_a_router_without_groups_chooses_among_all(self, places, k):
        """So does one that picks all of its groups, where they fill the places evenly."""
        every = places * (1 - (1 - 1 / places) ** k)
        for groups in (1, 2, 4, 8):
            if groups % places in (0, groups):
                q = network(num_experts_per_tok=k, n_group=groups, topk_group=groups)
                assert expected_places(q, places) == pytest.approx(every)

    @given(st.sampled_from([1, 2, 3, 4, 8, 16, 32]), st.integers(1, 16), st.integers(1, 8))
    def test_groups_keep_a_token_on_fewer_places(self, places, k, picked):
        found = [expected_places(network(num_experts_per_tok=k, n_group=8, topk_group=few), places)
                 for few in (picked, 8)]
        assert 1 - 1e-9 <= found[0] <= found[1] * (1 + 1e-9)
        assert found[0] <= min(places, k) * (1 + 1e-9)

    def test_four_of_eight_groups_on_eight_nodes(self):
        q = network(n_group=8, topk_group=4)
        assert expected_places(q, 8) == pytest.approx(4 * (1 - 0.75**8))
        assert expected_places(q, 1) == 1
        assert expected_places(q, 16) == pytest.approx(8 * (1 - (7 / 8) ** 8))
