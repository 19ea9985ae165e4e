"""Planning: cache transfer, balance of two pools, pipeline bubble, block waste, loading."""

from math import ceil

import numpy as np
import pytest
from _replica import replica, step_of

import catalogue
from calc.closed_form.evaluate import evaluate
from calc.closed_form.planning import pool_ratio, pool_replicas, transfer_time
from calc.closed_form.waves import prompts
from calc.physics.arrays import Inputs
from calc.physics.cache import Cache


class TestTransfer:
    """The cache of 1,000 tokens of 1,200 B in each of 60 layers, and a state of 3 MB."""

    CACHE = Cache(kv_entry_bytes=0, kv_window_entry_bytes=0, kv_index_bytes_per_token=0,
                  kv_layer_bytes_per_token=2400, kv_bytes_per_token=0,
                  kv_layer_bytes_per_token_per_device=1200,
                  state_bytes_per_request=0, state_bytes_per_device=3e6)

    def times(self, stages=1, port=0.0, sharing=1):
        return transfer_time(Inputs({
            "num_hidden_layers": 60, "pipeline_parallel": stages, "input_tokens": 1000.0,
            "network_alpha": 1e-5, "network_bandwidth": 25e9, "network_efficiency": 0.8,
            "prefill_pool_port_time": port, "decode_context_parallel": sharing}), self.CACHE)

    @pytest.mark.parametrize(("stages", "layers"), [(1, 60), (2, 30), (7, 9), (60, 1)])
    def test_fullest_stage_finishes_last(self, stages, layers):
        sent = layers * (1000 * 1200 + 3e6 / 60) / 20e9
        assert self.times(stages) == pytest.approx((1e-5 + sent, 1e-5 + sent))

    def test_ranks_that_share_a_cache_move_their_tokens(self):
        sent = 60 * (1000 / 8 * 1200 + 3e6 / 60) / 20e9
        assert self.times(sharing=8)[0] == pytest.approx(1e-5 + sent)

    def test_slower_side_decides(self):
        own, _ = self.times()
        assert self.times(port=own / 2) == (own, own)
        assert self.times(port=2 * own) == (own, 2 * own)


class TestRatio:
    """A decode step of 20 ms for 16 requests, prompts of a chunk that takes half a second."""

    @pytest.mark.parametrize(("inputs", "batch", "ratio"), [
        # decode: 16 requests every 100 steps of 20 ms, 8/s; prefill: 2/s
        ({}, 16, 4.0),
        ({"output_tokens": 200}, 16, 2.0),  # decode 4/s
        ({"draft_tokens": 1, "mtp_acceptance": 1}, 16, 8.0),  # two tokens per step: decode 16/s
        ({"max_num_batched_tokens": 250}, 16, 16.0),  # four chunks: prefill 0.5/s
        # two stages: two batches of 8 decode 8/s; a chunk leaves each stage every 0.25 s
        ({"pipeline_parallel": 2}, 8, 2.0)])
    def test_ratio_of_rates(self, inputs, batch, ratio):
        q = replica(**{"output_tokens": 100} | inputs)
        found = pool_ratio(q, batch, prompts(q, 16), step_of(0.02), step_of(0.5))
        assert found == pytest.approx(ratio)

    @pytest.mark.parametrize(("ratio", "data", "group", "replicas"), [
        (3.0, 1, 1, 3), (3.1, 1, 1, 4), (0.2, 1, 1, 1), (0.5, 5, 1, 3), (1.0, 8, 4, 8),
        (1.1, 8, 4, 12), (3 * (1 + 5e-9), 1, 1, 3), (3 * (1 + 1e-8), 1, 1, 4)])
    def test_prefill_replicas_are_whole_groups(self, ratio, data, group, replicas):
        """A ratio that exceeds a whole number by rounding errors needs no additional replica."""
        q = {"data_parallel": data, "expert_parallel": group}
        assert pool_replicas(replica(**q), ratio) == replicas
        assert pool_replicas(replica(**q, prefill_replicas=0.5), ratio) == 0.5


INPUTS = catalogue.load_scenario("h200-r1-vllm-tp8").inputs()
RATES = 0.5, 2.0, 8.0, 1e6  # of a prefill pool [request/s]



class TestTwoPools:
    def test_rate_of_the_slowest_part_and_best_split_of_cards(self):
        """Sixteen cards that prefill at several rates beside 32 that decode in two stages.

        Rates are proportional to cards: no other split of them has a higher rate.
        """
        given = INPUTS | {"separate_pools": 1, "data_parallel": 2, "pipeline_parallel": 2,
                          "concurrency": 64, "prefill_pool_devices": 16,
                          "prefill_pool_rate": np.array(RATES)}
        found = evaluate(given, "mla")
        decode, ports = found["request_throughput"].item(), 2 / found["kv_port_time"]
        assert found["pools_rate"] == pytest.approx([min(rate, decode, ports) for rate in RATES])
        thin = evaluate(given | {"network_bandwidth": 1e6}, "mla")
        assert thin["pools_rate"] == pytest.approx(2 / thin["kv_port_time"])
        devices = given["tensor_parallel"] * 2 * 2
        cards = np.linspace(0, 16 + devices, 1001)
        for best, rate, prefill in zip(found["best_prefill_devices"], found["best_pools_rate"],
                                       RATES, strict=True):
            finished = [np.minimum(split * prefill / 16, (16 + devices - split) * decode / devices)
                        for split in (best, cards)]
            assert finished[0] == pytest.approx(rate)
            assert finished[1].max() <= rate * (1 + 1e-9)

    def test_without_a_stated_prefill_pool(self):
        found = evaluate(INPUTS | {"separate_pools": 1, "prefill_pool_rate": 0}, "mla")
        assert [found["pools_rate"], found["best_pools_rate"]] == pytest.approx(
            [found["request_throughput"]] * 2, rel=1e-12)
        assert found["best_prefill_devices"] == 0


class TestServer:
    @pytest.mark.parametrize("stages", [1, 2, 4])
    @pytest.mark.parametrize("chunks", [1, 2, 8])
    def test_pipeline_bubble(self, stages, chunks):
        """Chunk j is in stage s in slot j + s."""
        found = evaluate(INPUTS | {"pipeline_parallel": stages, "input_tokens": 512 * chunks,
                                   "max_num_batched_tokens": 512}, "mla")
        slots = {(s, j + s) for j in range(chunks) for s in range(stages)}
        last = max(slot for _, slot in slots) + 1
        assert found["pipeline_bubble"] == pytest.approx(1 - len(slots) / (stages * last))

    @pytest.mark.parametrize("context", [1024, 1025, 1039, 1040])
    @pytest.mark.parametrize("shared", [1, 4])
    def test_block_waste(self, context, shared):
        block = 16 * shared  # over all ranks that share a request's cache
        found = evaluate(INPUTS | {"context_tokens": context, "block_size": 16,
                                   "decode_context_parallel": shared}, "mla")
        places = ceil(context / block) * block
        assert found["block_waste"] == pytest.approx((places - context) / places)

    def test_ridge_point(self):
        found = evaluate(INPUTS | {"attention_peak": 800e12, "memory_bandwidth": 4e12}, "mla")
        assert found["ridge_point"] == 200


class TestExperts:
    """Weights of routed experts in host memory and storage."""

    GIVEN = catalogue.load_scenario("s1-expert-tiers-shares").inputs()

    @pytest.mark.parametrize(("offloaded", "fetched", "stored", "host", "storage"), [
        (0, 0, 0, 0, 0), (1, 0, 0, 1, 0), (0, 0.8, 0, 0.8, 0), (0, 0.8, 0.25, 0.6, 0.2),
        (0.5, 0.8, 0.25, 0.5 + 0.5 * 0.6, 0.5 * 0.2)])
    def test_shares_of_host_and_storage(self, offloaded, fetched, stored, host, storage):
        """Offloaded experts are in host memory; fetched ones there or in storage."""
        given = self.GIVEN
        found = evaluate(given | {"offloaded_share": offloaded, "fetched_share": fetched,
                                  "stored_share": stored}, "mla")
        layers = given["num_hidden_layers"] - given["first_k_dense_replace"]
        matrices = 3 * given["hidden_size"] * given["moe_intermediate_size"]
        experts = layers * given["n_routed_experts"] * matrices * given["offloaded_weight_bytes"]
        assert found["host_expert_weights"] == pytest.approx(host * experts)
        assert found["storage_expert_weights"] == pytest.approx(storage * experts)

    def test_loading_time_of_a_server(self):
        """All cards of a server load their weights, and its host memory the experts."""
        given = self.GIVEN | {"storage_bandwidth": 3e9}
        devices = given["tensor_parallel"] * given["pipeline_parallel"] * given["data_parallel"]
        for of_node in (2, devices, 4 * devices):
            found = evaluate(given | {"devices_per_node": of_node}, "mla")
            loaded = (min(of_node, devices) * found["weights_per_device"]
                      + found["host_expert_weights"])
            assert found["loading_time"] == pytest.approx(loaded / 3e9)
