"""Attention to a window and to compressed entries: laws, and DeepSeek-V4 by its published shapes.

Golden numbers: parameters from the tensors of the published checkpoints, without the layer that
drafts; cache and state from what an engine allocates for a token and for a request.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import catalogue
from calc.answer.estimate import parameters, parameters_by_class
from calc.closed_form.evaluate import PHASES, evaluate
from calc.closed_form.latencies import latencies
from calc.physics.arrays import ceil_div
from calc.physics.decode_floor import read_of_cache
from catalogue.deployments.scenario import model_inputs

FLASH, PRO = "deepseek-v4-flash", "deepseek-v4-pro"
# rows of 448 elements in FP8 with 8 bytes of scales and 64 in BF16; index keys with one scale
BYTES = {"kv_cache_element_bytes": 456 / 448, "kv_rope_element_bytes": 2,
         "kv_index_element_bytes": 132 / 128, "state_element_bytes": 4,
         "compressor_weight_bytes": 2, "hyper_weight_bytes": 4}
LONG = {"input_tokens": 2**17, "context_tokens": 2**18}
LAYERS = ("compressed_layers", "heavy_layers", "indexer_layers")


def v4(name=FLASH, **changed):
    """Inputs of a model on the cards of a scenario of another one."""
    inputs = catalogue.load_scenario("h200-v32-vllm-tp8").inputs()
    return inputs | model_inputs(catalogue.load_model(name)) | BYTES | changed


def found(name=FLASH, **changed):
    return evaluate(v4(name, **changed), "csa")


class TestPublished:
    @pytest.mark.parametrize(("name", "total", "active"), [
        (FLASH, 284331713536, 13269574656), (PRO, 1572996012032, 48851212288)])
    def test_parameters(self, name, total, active):
        counted = found(name)
        assert counted["total_parameters"] == pytest.approx(total, rel=2e-4)
        assert counted["active_parameters"] == pytest.approx(active, rel=5e-3)

    @pytest.mark.parametrize("name", [FLASH, PRO])
    def test_classes_sum_to_all(self, name):
        model = catalogue.load_model(name)
        classes = parameters_by_class(model)
        assert sum(classes.values()) == parameters(model)["total"]
        assert classes["compressor"] > 0
        assert classes["hyper"] > 0

    def test_cache_and_state(self):
        flash, pro = found(), found(PRO)
        assert flash["kv_entry_bytes"] == 584
        assert flash["kv_bytes_per_token"] == pytest.approx(3850.25, abs=5e-3)
        assert pro["kv_bytes_per_token"] == pytest.approx(5511.44, abs=5e-3)
        windows, gathered = 43 * 128 * 584, 21 * (8 * 2048 + 8 * 512) * 4
        assert flash["state_bytes_per_request"] == windows + gathered + 20 * 128 * 1024 * 4


class TestCache:
    @pytest.mark.parametrize(("ratio", "layers"), [
        ("compress_ratio", "compressed_layers"), ("heavy_compress_ratio", "heavy_layers")])
    def test_it_shrinks_as_the_ratio_grows(self, ratio, layers):
        """Of layers of one kind alone the cache of a token is inverse to what an entry stands for.
        """
        others = dict.fromkeys(LAYERS, 0) | {layers: 20}
        sizes = [found(**others | {ratio: of})["kv_bytes_per_token"] for of in (4, 8, 64)]
        assert sizes[0] == pytest.approx(20 * 584 / 4)
        assert sizes == pytest.approx([sizes[0], sizes[0] / 2, sizes[0] / 16])

    def test_tensor_ranks_have_a_copy_each(self):
        one, eight = (found(tensor_parallel=t) for t in (1, 8))
        for name in ("kv_layer_bytes_per_token_per_device", "state_bytes_per_request"):
            assert one[name] == eight[name]

    def test_a_state_does_not_grow_with_the_context(self):
        short, long = (found(context_tokens=tokens) for tokens in (2**12, 2**18))
        assert short["state_blocks_per_request"] == long["state_blocks_per_request"] > 0

    def test_requests_take_blocks_for_tokens_and_state(self):
        inputs = v4(**LONG)
        answer = evaluate(inputs, "csa")
        block = inputs["block_size"] * answer["kv_bytes_per_token"]
        assert answer["state_blocks_per_request"] == ceil_div(
            answer["state_bytes_per_request"], block)
        assert answer["request_blocks"] == (
            answer["blocks_per_request"] + answer["state_blocks_per_request"])
        assert answer["max_concurrency"] == inputs["data_parallel"] * (
            answer["kv_blocks"] // answer["request_blocks"])
        np.testing.assert_allclose(answer["stage_workload_kv"], (
            answer["requests_per_rank"] * answer["request_blocks"] * answer["stage_block_bytes"]))

    @pytest.mark.parametrize("blocks", [1, 26])
    def test_an_engine_may_set_aside_blocks_of_its_own(self, blocks):
        own, needed = found(state_blocks=blocks), found()
        assert own["state_blocks_per_request"] == blocks
        assert own["block_waste"] == needed["block_waste"]
        assert own["held_tokens"] - needed["held_tokens"] == pytest.approx(
            v4()["block_size"] * (blocks - needed["state_blocks_per_request"]))

    def test_without_a_state_no_blocks_are_set_aside(self):
        inputs = catalogue.load_scenario("h200-v32-vllm-tp8").inputs()
        answer = evaluate(inputs | {"state_blocks": 26}, "mla")
        assert answer["state_bytes_per_request"] == answer["state_blocks_per_request"] == 0
        assert answer["request_blocks"] == answer["blocks_per_request"]

    def test_a_state_moves_with_its_cache(self):
        """Between pools at the same prompt: a state of twice the bytes takes so much longer."""
        inputs = v4()
        less, more = (evaluate(inputs | {"state_element_bytes": b}, "csa") for b in (2, 4))
        stages = ceil_div(43, inputs["pipeline_parallel"])
        added = (more["state_bytes_per_request"] - less["state_bytes_per_request"]) * stages / 43
        assert more["kv_port_time"] - less["kv_port_time"] == pytest.approx(
            added / (inputs["network_bandwidth"] * inputs["network_efficiency"]))


class TestStep:
    def test_only_windows_are_read_where_nothing_is_compressed(self):
        """Beyond the window no token of a context is then read."""
        for tokens in (1000, 10**6):
            q = SimpleNamespace(**v4(input_tokens=tokens, **dict.fromkeys(LAYERS, 0)))
            entry = SimpleNamespace(kv_entry_bytes=584.0, kv_index_bytes_per_token=132.0)
            assert read_of_cache(q, entry)[2] == 43 * 128 * 584

    def test_with_hardly_an_entry_contexts_do_not_matter(self):
        """One entry for more tokens than any context has."""
        single = dict.fromkeys(LAYERS, 0) | {"heavy_layers": 1, "heavy_compress_ratio": 2.0**60}
        inputs = v4(**single, context_tokens=2**20, prompt_variation=0, kv_imbalance=1)
        short, long = (latencies("csa", SimpleNamespace(**{
            name: np.float64(value) for name, value in (
                inputs | {"input_tokens": tokens}).items()}), ["decode_tpot"])["decode_tpot"]
            for tokens in (1000, 500_000))
        assert short == pytest.approx(long, rel=1e-9)

    def test_a_longer_context_costs_index_keys_and_heavy_entries(self):
        """What is picked, and the window, are met already."""
        more = 2**17 - 2**16
        less, longer = (found(input_tokens=tokens, context_tokens=2**18, kv_imbalance=1,
                              prompt_variation=0) for tokens in (2**16, 2**17))
        read = 21 * 132 * more / 4 + 20 * 584 * more / 128
        assert (longer["decode_kv_bytes"] - less["decode_kv_bytes"]) / less["decode_batch"] == (
            pytest.approx(read))

    @pytest.mark.parametrize("phase", PHASES)
    def test_fewer_indexers_read_fewer_keys(self, phase):
        all_own, half = (found(**LONG, indexer_layers=layers) for layers in (20, 10))
        for name in ("index_flops", "index_bytes"):
            assert half[f"{phase}_{name}"] == pytest.approx(all_own[f"{phase}_{name}"] / 2)
        assert half[f"{phase}_core_bytes"] == all_own[f"{phase}_core_bytes"]

    @pytest.mark.parametrize("phase", PHASES)
    def test_layers_of_latent_attention_may_share_an_indexer(self, phase):
        inputs = catalogue.load_scenario("h200-v32-vllm-tp8").inputs() | LONG
        every, fewer = (evaluate(inputs | {"indexer_layers": layers}, "mla") for layers in (60, 15))
        assert fewer[f"{phase}_index_bytes"] == pytest.approx(every[f"{phase}_index_bytes"] / 4)
        assert fewer[f"{phase}_core_flops"] == every[f"{phase}_core_flops"]
        assert fewer["kv_bytes_per_token"] == pytest.approx(
            every["kv_bytes_per_token"] - 45 * every["kv_index_bytes_per_token"])

    def test_no_prompt_is_expanded(self):
        """However short: an entry has no heads to expand to."""
        answer = found(input_tokens=64, dense_prefill_tokens=2**20)
        assert answer["prefill_absorbed"] == 1
        assert answer["prefill_context_exchange_time"] == 0

    def test_heads_fill_whole_tiles_token_by_token(self):
        inputs = {"sparse_tile_rows": 64, "tensor_parallel": 8}
        answer = found(**inputs)
        for phase in PHASES:
            assert answer[f"{phase}_head_rows"] == 64

    @pytest.mark.parametrize("metric", ["tpot", "ttft", "decode_step_time", "steady_tpot"])
    def test_steps_alone_are_those_of_all_quantities(self, metric):
        inputs = {name: np.float64(value) for name, value in v4(**LONG).items()}
        alone = latencies("csa", SimpleNamespace(**inputs), [metric])[metric]
        assert alone == pytest.approx(evaluate(inputs, "csa")[metric], rel=1e-12)


class TestStreams:
    def test_one_stream_is_an_ordinary_residual(self):
        """Whatever streams would weigh and launch."""
        plain = found(hc_mult=1, hyper_operators=0)
        answer = found(hc_mult=1, hyper_operators=6, hyper_weight_bytes=16)
        assert answer["hyper_parameters"] == answer["hyper_head_parameters"] == 0
        for name, value in plain.items():
            np.testing.assert_array_equal(answer[name], value, err_msg=name)

    def test_parameters_of_four_streams(self):
        """Of every half of a layer: a matrix from all streams to 24 weights, biases, scales."""
        answer = found()
        assert answer["hyper_parameters"] == 2 * (24 * 4 * 4096 + 24 + 3)
        assert answer["hyper_head_parameters"] == 4 * 4 * 4096 + 4 + 1

    def test_streams_cost_bytes_and_hops_but_no_all_reduce(self):
        one, four = (found(hc_mult=streams, pipeline_parallel=2) for streams in (1, 4))
        for phase in PHASES:
            for name in ("vector_time", "pipeline_time", "attention_bytes"):
                assert four[f"{phase}_{name}"] > one[f"{phase}_{name}"]
            assert four[f"{phase}_all_reduce_time"] == one[f"{phase}_all_reduce_time"]
        assert four["attention_activation_width"] - one["attention_activation_width"] == 3 * 4096
