"""Laws of the pieces: experts, an operator, collectives, the scheduler's clock, units.

What holds for whole deployments is in ``test_laws.py``.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, one, run
from hypothesis import example, given, settings
from hypothesis import strategies as st

import catalogue
from calc.physics.communication import (
    all_gather,
    all_reduce,
    exchange,
    group,
    one_shot,
    reduce_scatter,
    ring,
    there_and_back,
    tree,
    two_shot,
    wanted,
)
from calc.physics.experts import distinct_experts
from calc.physics.step import operator_time
from calc.quantities.everything import PHASES
from calc.serving.scheduling import Limits, Request, schedule
from calc.serving.step_times import Clock
from workbench.formulas import dimensions
from workbench.formulas.exported import load_formulas
from workbench.formulas.trees import from_tree

ROUNDING = 1e-9  # relative
SEEDS = st.integers(0, 2**32 - 1)
both = pytest.mark.parametrize("attention", ATTENTIONS)


class TestExperts:
    """How many experts a step reads, for every skew."""

    SKEWS = st.one_of(st.just(0.0), st.floats(1e-3, 10))
    SHAPES = st.integers(2, 1024).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1)))

    @both
    @settings(max_examples=10)
    @given(SEEDS)
    def test_whole_experts_alone_hide_a_share_of_their_own(self, attention, seed):
        """Slices hide what any matmul hides; of whole ones that share says nothing."""
        inputs = fleet(attention, seed)
        asked = inputs["expert_tensor_parallel"]
        is_sliced = np.where(asked > 0, asked > 1,
                             inputs["expert_parallel"] < inputs["tensor_parallel"])
        for name, kept in (("expert_load_overlap", is_sliced), ("load_overlap", ~is_sliced)):
            least, most = (run(inputs | {name: np.full_like(inputs[name], share)}, attention)
                           for share in (0.0, 1.0))
            for phase in PHASES:
                serial, hidden = (found[f"{phase}_routed_expert_time"] for found in (least, most))
                assert np.all(hidden[kept] == serial[kept])
                assert np.all(hidden <= serial * (1 + ROUNDING))

    @given(SHAPES, SKEWS)
    def test_one_token_reads_k_and_endless_tokens_all(self, shape, skew):
        n, k = shape
        assert distinct_experts(n, k, 1, skew) == pytest.approx(k)
        assert distinct_experts(n, k, 0, skew) == pytest.approx(0, abs=1e-9)
        assert distinct_experts(n, k, 1e200, skew) == pytest.approx(n, rel=1e-9)

    @given(SHAPES, SKEWS, st.floats(1, 1e5), st.floats(1.01, 100))
    def test_more_tokens_read_more_but_less_each(self, shape, skew, tokens, factor):
        few, many = (float(distinct_experts(*shape, t, skew)) for t in (tokens, tokens * factor))
        assert few <= many * (1 + ROUNDING)
        assert many <= few * factor * (1 + ROUNDING)
        assert many <= min(shape[0], shape[1] * tokens * factor) * (1 + ROUNDING)

    @given(SHAPES, SKEWS, SKEWS, st.floats(1, 1e5))
    def test_skew_reads_less_uniform_routing_most(self, shape, skew, other, tokens):
        less, more = sorted((skew, other))
        even, uneven = (float(distinct_experts(*shape, tokens, s)) for s in (less, more))
        assert uneven <= even * (1 + ROUNDING)
        assert shape[1] <= uneven * (1 + ROUNDING)

    @given(SHAPES, st.integers(1, 10**4))
    def test_the_limit_of_no_skew_is_uniform(self, shape, tokens):
        uniform = distinct_experts(*shape, tokens, 0.0)
        assert distinct_experts(*shape, tokens, 1e-6) == pytest.approx(uniform, rel=1e-3)

    @given(st.integers(1, 512), SKEWS, st.floats(0.5, 1e4))
    def test_all_chosen_are_all_read(self, n, skew, tokens):
        assert distinct_experts(n, n, tokens, skew) == n

    @both
    @settings(max_examples=20)
    @given(SEEDS)
    def test_of_a_step(self, attention, seed):
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        k = inputs["num_experts_per_tok"]
        for phase in PHASES:
            hit, tokens = found[f"{phase}_distinct_experts"], found[f"{phase}_group_tokens"]
            most = np.minimum(inputs["n_routed_experts"], k * np.maximum(1, tokens))
            assert (hit <= most * (1 + ROUNDING)).all()


class TestOperatorTime:
    """One operator, from the times of its arithmetic and of its bytes."""

    TIME = st.floats(0, 1e3)

    @given(TIME, TIME, st.floats(0, 1))
    @example(1.0, 1.0, 0.0)
    def test_between_the_longer_and_the_sum(self, compute, memory, overlap):
        taken = operator_time(compute, memory, overlap)
        assert max(compute, memory) <= taken <= (compute + memory) * (1 + ROUNDING)
        assert taken == operator_time(memory, compute, overlap)
        assert operator_time(compute, memory, 1.0) == max(compute, memory)
        assert operator_time(compute, memory, 0.0) == pytest.approx(compute + memory)


def network(**changes):
    """Eight cards a node, linked pair by pair; two hundred gigabits a second between nodes."""
    return SimpleNamespace(**{
        "devices_per_node": 8, "full_mesh": 1, "pair_bandwidth": 28e9,
        "device_link_bandwidth": 196e9, "network_bandwidth": 25e9, "collective_alpha": 1e-5,
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
    network_efficiency=st.floats(0.1, 1), num_experts_per_tok=st.integers(1, 16),
    exchange_normal=st.integers(0, 1))
PAYLOADS = st.floats(1, 1e9)
RANKS = st.integers(1, 64)


def best_rate(q, g):
    """The faster of the levels that a group has, as its collectives reach it."""
    return max(float(g.inside_rate * q.collective_efficiency) if g.inside > 1 else 0.0,
               float(g.across_rate * q.network_efficiency) if g.across > 1 else 0.0)


class TestCollectives:
    """Bounds that no algorithm beats, and cases worked out by hand."""

    @given(NETWORKS, RANKS, PAYLOADS)
    def test_no_all_reduce_beats_the_least_that_each_rank_must_send(self, q, n, payload):
        """2 (n - 1)/n payloads, and two latencies, or one where all see all at once."""
        g = group(q, n)
        taken = all_reduce(q, g, payload)
        if n == 1:
            assert taken == 0
            return
        assert taken >= 2 * (n - 1) / n * payload / best_rate(q, g) * (1 - ROUNDING)
        assert taken >= (q.collective_alpha if g.across == 1 else 2 * q.network_alpha)

    @given(NETWORKS, RANKS, PAYLOADS)
    def test_no_all_gather_beats_what_each_rank_must_receive(self, q, n, payload):
        g = group(q, n)
        taken = all_gather(q, g, payload)
        if n == 1:
            assert taken == 0
            return
        received = (g.inside * g.across - 1) * payload  # the last node counts as full
        assert taken >= received / best_rate(q, g) * (1 - ROUNDING)

    @given(NETWORKS, st.integers(2, 64), PAYLOADS, st.floats(1.001, 100))
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
        both = reduce_scatter(q, g, payload / ranks) + all_gather(q, g, payload / ranks)
        assert both == pytest.approx(two_shot(q, g, payload))

    @given(st.integers(2, 64), st.integers(1, 16), PAYLOADS)
    def test_gathering_sends_as_much_as_copies_to_as_many_experts_as_ranks(self, ranks, k, payload):
        """Inside a node: e - 1 tokens arrive, or k (1 - 1/e)."""
        q = network(full_mesh=0, devices_per_node=ranks, num_experts_per_tok=k, exchange_alpha=0.0,
                    collective_alpha=0.0)
        sent = [sum(there_and_back(q, group(q, ranks), 1.0, (payload, 2 * payload), 1.0,
                                   (1.0, 1.0))) for q.exchange_gathered in (0, 1)]
        assert sent[1] / sent[0] == pytest.approx(ranks / k)

    @given(NETWORKS, RANKS, PAYLOADS, st.floats(1, 4), st.floats(1, 4))
    def test_gathering_waits_for_the_fullest_sender_alone(self, q, ranks, payload, most, load):
        q.exchange_gathered, q.collective_alpha, q.network_alpha = 1, 0.0, 0.0
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
                assert wanted(q, places) == pytest.approx(every)

    @given(st.sampled_from([1, 2, 3, 4, 8, 16, 32]), st.integers(1, 16), st.integers(1, 8))
    def test_groups_keep_a_token_on_fewer_places(self, places, k, picked):
        found = [wanted(network(num_experts_per_tok=k, n_group=8, topk_group=few), places)
                 for few in (picked, 8)]
        assert 1 - 1e-9 <= found[0] <= found[1] * (1 + 1e-9)
        assert found[0] <= min(places, k) * (1 + 1e-9)

    def test_four_of_eight_groups_on_eight_nodes(self):
        q = network(n_group=8, topk_group=4)
        assert wanted(q, 8) == pytest.approx(4 * (1 - 0.75**8))
        assert wanted(q, 1) == 1
        assert wanted(q, 16) == pytest.approx(8 * (1 - (7 / 8) ** 8))


AT_ONCE = {"host_peak": 1e40, "host_memory_bandwidth": 1e40, "host_link_bandwidth": 1e40,
           "host_sync": 0}


@both
class TestHost:
    """Experts on the host, one resource at a time: the others are as good as infinite."""

    @settings(max_examples=10)
    @given(SEEDS)
    def test_by_hand(self, attention, seed):
        inputs = fleet(attention, seed) | {"host_group_tokens": 0}
        x, k = inputs["offloaded_share"], inputs["num_experts_per_tok"]
        layers = inputs["num_hidden_layers"] - inputs["first_k_dense_replace"]
        for phase in PHASES:
            found = run(inputs, attention)
            expert = x * layers * found["routed_expert_parameters"]
            rows = found[f"{phase}_group_tokens"] * k
            tokens = found[f"{phase}_group_tokens"] * inputs["tensor_parallel"] / (
                inputs["expert_parallel"] * found["expert_slices"])
            hidden = tokens * inputs["hidden_size"] * inputs["activation_element_bytes"]
            expected = {
                "host_peak": expert * rows * inputs["multiply_add_flops"]
                / (inputs["host_peak"] * inputs["host_gemm_efficiency"]),
                "host_memory_bandwidth": expert * found[f"{phase}_distinct_experts"]
                * inputs["offloaded_weight_bytes"]
                / (inputs["host_memory_bandwidth"] * inputs["host_stream_efficiency"]),
                # there and back, unless all of a token's experts are on the device
                "host_link_bandwidth": 2 * layers * hidden * (1 - (1 - x) ** k)
                / inputs["host_link_bandwidth"],
                "host_sync": layers * (x > 0) * inputs["host_sync"]}
            for name, time in expected.items():
                rest = {other: rate for other, rate in AT_ONCE.items() if other != name}
                taken = run(inputs, attention, **rest)[f"{phase}_offload_time"]
                np.testing.assert_allclose(taken, time, rtol=1e-9, atol=1e-20, err_msg=name)


@both
@settings(max_examples=20)
@given(seed=SEEDS)
def test_prompts_without_pause_are_a_wave_without_its_first_prompt(attention, seed):
    """All prompts but the first of each rank, over the time that they take."""
    inputs = fleet(attention, seed)
    inputs["concurrency"] = inputs["data_parallel"] * (1 + np.ceil(inputs["concurrency"]))
    found = run(inputs, attention)
    others = inputs["concurrency"] - inputs["data_parallel"]
    assert found["prefill_throughput"] * found["burst_time"] == pytest.approx(
        others * found["new_tokens"])


class TestScheduler:
    """The scheduler on calc's clock and the closed form are two ways to one request alone."""

    @staticmethod
    def both_ways(inputs, attention, prompt, output):
        inputs = inputs | {
            "concurrency": inputs["data_parallel"], "input_tokens": prompt,
            "output_tokens": output, "max_num_batched_tokens": prompt, "kv_imbalance": 1,
            "prompt_variation": 0, "answer_variation": 0,
            "pipeline_parallel": 1, "draft_tokens": 0, "separate_pools": 0, "prefix_hit_share": 0}
        served = schedule([Request(0.0, prompt, output)], Limits(prompt, 1),
                          Clock(inputs, attention), inputs["host_gap_per_step"])
        return run(inputs, attention), served.outcomes[0], inputs["request_overhead"]

    @both
    @settings(max_examples=10)
    @given(SEEDS, st.integers(0, 99), st.integers(64, 20_000))
    def test_of_any_deployment(self, attention, seed, index, prompt):
        # the path for one token leaves a small difference of two times, rounding included
        inputs = one(fleet(attention, seed), index) | {"single_token_path": 0}
        found, outcome, overhead = self.both_ways(inputs, attention, prompt, 16)
        assert outcome.ttft + overhead == pytest.approx(float(found["ttft"]), rel=ROUNDING)
        # contexts are rounded up to blocks of 16 tokens, and the first token is not decoded
        slack = 33 / prompt
        assert outcome.tpot == pytest.approx(float(found["tpot"]), rel=slack)

    @pytest.mark.parametrize("name", catalogue.deployment_names())
    def test_of_every_scenario(self, name):
        scenario = catalogue.load_scenario(name)
        found, outcome, overhead = self.both_ways(
            scenario.inputs(), scenario.model.attention, 4096, 256)
        assert outcome.ttft + overhead == pytest.approx(float(found["ttft"]), rel=ROUNDING)
        assert outcome.tpot == pytest.approx(float(found["tpot"]), rel=2e-3)


@pytest.mark.parametrize("key", sorted(load_formulas()))
def test_units_of_a_formula_agree(key):
    formula = load_formulas()[key]
    dimensions.check(formula.name, from_tree(formula.tree))
    assert formula.unit == catalogue.symbols()[formula.name].unit
