"""The attention core as kernels run it: whole tiles of heads, sparse attention, its indexer."""

import numpy as np
import pytest
from _fleet import fleet_alike as fleet
from _fleet import run, where

import calc
import catalogue
from calc.closed_form.evaluate import PHASES
from calc.serving.requests import Step
from calc.serving.step_times import Clock
from catalogue.reading.record import ROOT

SEEDS = range(4)
SPARSE = ("sparse_tile_rows", "sparse_attention_efficiency", "index_peak", "index_efficiency",
          "selection_traffic", "whole_selection", "dense_prefill_tokens")


def deployment(name, *overrides, **changes):
    """Inputs and quantities of a deployment with something changed."""
    scenario = catalogue.load_scenario(name, overrides=overrides)
    inputs = scenario.inputs() | changes
    return inputs, calc.evaluate(inputs, scenario.model.attention)


class TestTiles:
    @pytest.mark.parametrize("seed", SEEDS)
    def test_rows_are_the_heads_and_less_than_a_tile_more(self, seed):
        inputs = fleet("mla", seed) | {"index_topk": 0, "decode_context_parallel": 1}
        found = run(inputs, "mla")
        heads = inputs["num_attention_heads"] / inputs["tensor_parallel"]
        spare = found["decode_head_rows"] - heads
        assert not where((spare < -1e-9) | (spare >= inputs["core_tile_rows"]), spare)
        for phase in ("prefill", "burst"):
            np.testing.assert_array_equal(found[f"{phase}_head_rows"], heads)

    @pytest.mark.parametrize("seed", SEEDS)
    def test_tiles_of_one_row_are_the_heads(self, seed):
        found = run(fleet("mla", seed), "mla", core_tile_rows=1, sparse_tile_rows=1,
                    decode_context_parallel=1)
        heads = fleet("mla", seed)["num_attention_heads"] / fleet("mla", seed)["tensor_parallel"]
        for phase in PHASES:
            whole = 1 if phase == "decode" else found["prompt_ranks"]
            np.testing.assert_allclose(found[f"{phase}_head_rows"], heads * whole, rtol=1e-12)

    def test_grouped_queries_have_none(self):
        inputs = fleet("gqa", 1)
        found = run(inputs, "gqa", core_tile_rows=64, decode_context_parallel=1)
        np.testing.assert_array_equal(
            found["decode_head_rows"], inputs["num_attention_heads"] / inputs["tensor_parallel"])

    def test_drafts_are_free_up_to_a_tile(self):
        """16 heads and three drafts are 64 rows, as many as 16 heads alone are multiplied as."""
        flops = {drafts: deployment("h200-r1-vllm-tp8", draft_tokens=drafts)[1]["decode_core_flops"]
                 for drafts in (0, 1, 3, 4)}
        assert flops[1] == pytest.approx(flops[0])
        assert flops[3] == pytest.approx(flops[0])
        assert flops[4] == pytest.approx(2 * flops[0])

    def test_a_cut_into_sixteen_heads_saves_an_h20_nothing(self):
        """Its core is bound by arithmetic, of 64 rows with 16 heads as with 64."""
        plain = {"core_tile_rows": 1, "latent_core_latency": 0, "latent_core_fill": 0}
        without = {"latent_core_latency": 0, "latent_core_fill": 0}
        _, cut = deployment("s1-h20-vs-910b2-h20", **without)
        _, alone = deployment("s1-h20-vs-910b2-h20", **plain)
        inputs = deployment("s1-h20-vs-910b2-h20")[0]
        heads = inputs["num_attention_heads"] / inputs["tensor_parallel"]
        assert heads == 16
        assert cut["decode_head_rows"] == 64
        assert 3 < cut["decode_core_time"] / alone["decode_core_time"] <= 4

    @pytest.mark.parametrize(("tokens", "tile", "rows"), [
        (16, 64, 64), (64, 64, 64), (100, 64, 100), (8192, 64, 8192), (16, 1, 16)])
    def test_a_prompt_is_brought_in_as_whole_tiles(self, tokens, tile, rows):
        """Its bytes besides arithmetic are those of a tile, of 64 rows, at least."""
        still, moving = (deployment(
            "h200-r1-vllm-tp8", input_tokens=tokens, max_num_batched_tokens=8192,
            prompt_variation=0, prefix_hit_share=0, prefill_tile_rows=tile,
            core_row_traffic=traffic) for traffic in (0, 1))
        inputs, found = moving
        rate = inputs["memory_bandwidth"] * inputs["hbm_efficiency"]
        for phase in ("prefill", "burst"):
            beside = found[f"{phase}_core_time"] - still[1][f"{phase}_core_time"]
            width = sum(inputs[name] for name in (
                "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
            filling = (inputs["num_hidden_layers"] * inputs["num_attention_heads"]
                       / inputs["tensor_parallel"] * width * inputs["activation_element_bytes"]
                       * found[f"{phase}_tokens"] * (rows / tokens - 1))
            np.testing.assert_allclose(
                beside, (found[f"{phase}_core_bytes"] + filling) / rate, rtol=1e-9)

    @pytest.mark.parametrize(("device", "ns"), [
        ("nvidia-h200-sxm", {(16, 2): 0.2714, (64, 2): 0.2836, (128, 2): 0.4429, (16, 1): 0.1989,
                             (64, 1): 0.2073, (128, 1): 0.3940}),
        ("nvidia-h100-sxm", {(16, 2): 0.3848, (64, 2): 0.3985, (128, 2): 0.4557, (16, 1): 0.2152,
                             (64, 1): 0.2302, (128, 1): 0.3895})])
    def test_one_pair_of_shares_meets_every_cut_and_both_caches(self, device, ns):
        """Medians by heads and bytes per element, mla/trtllm/1.3.0rc10 of aic-h100, aic-h200."""
        card = catalogue.load_device(device)
        priors = catalogue.load("mechanisms", card.mechanisms or "nvidia-hopper")
        for (heads, width), measured in ns.items():
            tile = priors.core_tile_rows.value
            rows = np.ceil(heads / tile) * tile
            computed = 2 * rows * (2 * 512 + 64) / (
                card.matrix_peak.bf16.value * priors.mla_compute_efficiency.value)
            read = width * (512 + 64) / (card.memory_bandwidth.value * priors.mla_efficiency.value)
            assert max(computed, read) * 1e9 == pytest.approx(measured, rel=0.13), (heads, width)


class TestSparse:
    def test_a_dense_model_knows_nothing_of_it(self):
        for seed in SEEDS:
            inputs = fleet("mla", seed) | {"index_topk": 0, "index_n_heads": 0, "index_head_dim": 0,
                                           "selection_traffic": 0}
            before = run(inputs, "mla")
            after = run(inputs, "mla", **{name: 3 * inputs[name] + 7 for name in SPARSE
                                          if name != "selection_traffic"})
            for name in before:
                np.testing.assert_array_equal(before[name], after[name], err_msg=name)

    def test_operations_of_a_prompt_token_by_hand(self):
        """61 layers of 64 rows, (576 + 512) multiply-adds, 2,048 positions: 17.4 GFLOP."""
        inputs, found = deployment("h200-v32-vllm-tp8", input_tokens=4000)
        assert inputs["num_attention_heads"] / inputs["tensor_parallel"] == 16
        per_token = found["prefill_core_flops"] / found["prefill_tokens"]
        assert per_token == pytest.approx(2 * 61 * 64 * (576 + 512) * 2048)

    def test_a_fixed_number_of_positions_is_multiplied_whatever_the_prompt(self):
        flops = {length: found["prefill_core_flops"] / found["prefill_tokens"]
                 for length in (1, 100, 2048, 30_000)
                 for _, found in [deployment("h200-v32-vllm-tp8", input_tokens=length)]}
        assert len({round(value) for value in flops.values()}) == 1

    def test_a_kernel_that_stops_multiplies_no_more_than_there_are(self):
        _, whole = deployment("h200-v32-vllm-tp8", input_tokens=99)
        _, stops = deployment("h200-v32-vllm-tp8", input_tokens=99, whole_selection=0)
        assert stops["prefill_multiplied"] == 50
        assert whole["prefill_multiplied"] == 2048
        long = {"input_tokens": 30_000, "prefix_hit_share": 0.5}  # each token has enough
        _, whole = deployment("h200-v32-vllm-tp8", **long)
        _, stops = deployment("h200-v32-vllm-tp8", **long, whole_selection=0)
        assert whole["prefill_core_flops"] == stops["prefill_core_flops"]

    def test_no_prefix_is_expanded_again(self):
        """Projections of a token are the same after any prefix; expanded they are not."""
        for limit, alike in ((0, True), (10**6, False)):
            per_token = [found["prefill_attention_flops"] / found["prefill_tokens"]
                         for share in (0, 0.5, 0.9) for _, found in [deployment(
                             "h200-v32-vllm-tp8", input_tokens=20_000, prefix_hit_share=share,
                             dense_prefill_tokens=limit)]]
            assert bool(max(per_token) < 1.0001 * min(per_token)) is alike

    def test_few_cached_tokens_are_not_expanded_again(self):
        """Below the limit the core is the wide one and nothing is expanded; above it, and without
        a cached token, all is as in an engine without a limit."""
        def found(share, **changes):
            return deployment("h200-r1-vllm-tp8", input_tokens=4000, prefix_hit_share=share,
                              **changes)[1]
        for share, limit, alike in ((0, 8192, True), (0.5, 0, True), (0.5, 2000, True),
                                    (0.5, 2001, False), (0.5, 8192, False)):
            limited, plain = found(share, absorbed_prefix_tokens=limit), found(share)
            for name in ("prefill_core_flops", "prefill_attention_flops"):
                assert bool(limited[name] == plain[name]) is alike, (share, limit, name)
        few, plain = found(0.5, absorbed_prefix_tokens=8192), found(0.5)
        # 576 + 512 elements of a head and position for 192 + 128
        assert few["prefill_core_flops"] == pytest.approx(
            (576 + 512) / (192 + 128) * plain["prefill_core_flops"])

    def test_a_chunk_that_cuts_a_prompt_is_absorbed(self):
        """The scheduler's step tells by the tokens that are cached in it, a prompt's own too."""
        scenario = catalogue.load_scenario("h200-r1-sglang-tp8")
        absorbing, plain = (Clock(scenario.inputs() | {"absorbed_prefix_tokens": limit},
                                  scenario.model.attention) for limit in (8192, 0))
        for chunks, longer in ((((2000, 0),) * 4, False), (((1000, 1000), (2000, 0)), True),
                               (((2000, 8192),), False)):
            step = Step(prefill=chunks, decode=())
            assert (absorbing(step) > plain(step)) is longer
            assert longer or absorbing(step) == plain(step)

    def test_a_short_prompt_may_be_dense(self):
        """Then it is that of the same model without an indexer's scores, expanded."""
        dense = {"dense_prefill_tokens": 2048}
        _, short = deployment("h200-v32-vllm-tp8", input_tokens=2048, **dense)
        _, long = deployment("h200-v32-vllm-tp8", input_tokens=2049, **dense)
        _, r1 = deployment("h200-r1-vllm-tp8", input_tokens=2048)
        assert short["prefill_core_flops"] == r1["prefill_core_flops"]
        assert short["prefill_index_flops"] == short["prefill_index_time"] == 0
        assert long["prefill_core_flops"] > 5 * short["prefill_core_flops"]
        assert long["prefill_index_flops"] > 0

    def test_decode_is_absorbed_and_padded_however_prompts_are(self):
        steps = [deployment("h200-v32-vllm-tp8", dense_prefill_tokens=limit)[1]["decode_step_time"]
                 for limit in (0, 10**6)]
        assert steps[0] == steps[1]

    def test_prompts_have_an_efficiency_of_their_own(self):
        base = deployment("h200-v32-vllm-tp8", sparse_prefill_efficiency=0.4)[1]
        half = deployment("h200-v32-vllm-tp8", sparse_prefill_efficiency=0.2)[1]
        assert half["prefill_core_time"] == pytest.approx(2 * base["prefill_core_time"])
        assert half["decode_core_time"] == base["decode_core_time"]

    def test_where_none_is_stated_prompts_take_that_of_decode(self):
        inputs = deployment("h200-v32-vllm-tp8",
                            "mechanisms.sparse_attention_efficiency=0.31")[0]
        assert inputs["sparse_prefill_efficiency"] == inputs["sparse_attention_efficiency"] == 0.31

    def test_the_kernel_of_prefill_is_met(self):
        """InferSim, 4,096 tokens, 128 heads, 2,048 of 16,384 positions on an H800: 3.60 ms."""
        priors = catalogue.load("mechanisms", "nvidia-h800")
        peak = catalogue.load_device("nvidia-h800").matrix_peak.bf16.value
        flops = 2 * 128 * (576 + 512) * 2048 * 4096
        assert flops / (peak * priors.sparse_attention_efficiency.wide.value) == pytest.approx(
            3.60e-3, rel=0.15)


class TestIndexer:
    def test_its_scores_take_the_peak_of_their_own_dtype(self):
        wide = deployment("h200-v32-vllm-tp8", "precision.multiply.index=bf16", input_tokens=30_000)
        narrow = deployment("h200-v32-vllm-tp8", input_tokens=30_000)
        assert wide[0]["index_peak"] == wide[0]["core_peak"] < narrow[0]["index_peak"]
        for phase in ("prefill", "burst"):
            ratio = wide[1][f"{phase}_index_time"] / narrow[1][f"{phase}_index_time"]
            assert ratio == pytest.approx(narrow[0]["index_peak"] / wide[0]["index_peak"])

    def test_it_scores_the_whole_context(self):
        _, one = deployment("h200-v32-vllm-tp8", input_tokens=10_000)
        _, two = deployment("h200-v32-vllm-tp8", input_tokens=20_001)
        assert two["prefill_index_flops"] / two["prefill_tokens"] == pytest.approx(
            2 * one["prefill_index_flops"] / one["prefill_tokens"])

    def test_choosing_moves_bytes_for_each_score(self):
        inputs, found = deployment("h200-v32-vllm-tp8", input_tokens=10_000)
        _, free = deployment("h200-v32-vllm-tp8", input_tokens=10_000, selection_traffic=0)
        scores = found["prefill_tokens"] * (found["cached_tokens"] + (10_000 + 1) / 2)
        assert found["prefill_vector_bytes"] - free["prefill_vector_bytes"] == pytest.approx(
            61 * scores * inputs["selection_traffic"])

    def test_a_card_without_the_dtype_multiplies_wider(self):
        scenario = catalogue.load_scenario("h200-v32-vllm-tp8", "ascend-910b2",
                                           ["engine=vllm-ascend"])
        assert scenario.inputs()["index_peak"] == scenario.inputs()["core_peak"]

    def test_what_a_deployment_states_is_checked(self, tmp_path):
        text = (ROOT / "scenarios" / "h200-v32-sglang-tp8.yml").read_text("utf-8")
        for written, problem in (("2048", "expected a quantity in token"),
                                 ("1 GB", "expected a quantity in token")):
            path = tmp_path / "mine.yml"
            path.write_text(text.replace("value: 2048 token", f"value: {written}"), "utf-8")
            with pytest.raises(catalogue.ParamsError, match=problem):
                catalogue.load_scenario(path)


class TestUnfused:
    """Prefill whose scores are tensors in memory, for want of a fused kernel."""

    ZETA = 32.0

    def test_one_chunk_meets_every_position(self):
        _, found = deployment("h200-r1-vllm-tp8", input_tokens=1000, score_traffic=self.ZETA)
        _, fused = deployment("h200-r1-vllm-tp8", input_tokens=1000)
        assert found["prefill_multiplied"] == 1000
        assert fused["prefill_multiplied"] == 500.5

    def test_chunks_meet_what_is_before_their_end(self):
        """Four chunks of 1,000 tokens after 1,000 cached: 2,000, 3,000, 4,000 and 5,000."""
        _, found = deployment("h200-r1-vllm-tp8", input_tokens=5000, prefix_hit_share=0.2,
                              max_num_batched_tokens=1000, score_traffic=self.ZETA)
        assert found["prefill_multiplied"] == pytest.approx(3500)

    def test_chunks_of_one_token_see_no_mask(self):
        changed = {"input_tokens": 300, "max_num_batched_tokens": 1}
        _, found = deployment("h200-r1-vllm-tp8", **changed, score_traffic=self.ZETA)
        _, fused = deployment("h200-r1-vllm-tp8", **changed)
        assert found["prefill_multiplied"] == fused["prefill_multiplied"]

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("attention", ["mla", "gqa"])
    def test_bytes_are_those_of_the_scores(self, attention, seed):
        inputs = fleet(attention, seed) | {"index_topk": 0}
        none, some = (run(inputs, attention, score_traffic=bytes_) for bytes_ in (1e-9, self.ZETA))
        windowed = inputs["num_hidden_layers"] - inputs["full_attention_layers"]
        positions = (inputs["full_attention_layers"] * some["prefill_multiplied"]
                     + windowed * some["prefill_in_window"])
        scores = (inputs["num_attention_heads"] / inputs["tensor_parallel"]
                  * some["prefill_tokens"] / inputs["micro_batches"] * positions)
        np.testing.assert_allclose(some["prefill_core_bytes"] - none["prefill_core_bytes"],
                                   self.ZETA * scores, rtol=1e-6)

    @pytest.mark.parametrize("seed", SEEDS)
    def test_products_and_passes_add(self, seed):
        inputs = fleet("mla", seed) | {"index_topk": 0, "score_traffic": self.ZETA}
        found = run(inputs, "mla")
        peak = inputs["core_peak"] * inputs["attention_gemm_efficiency"] * found["slowest_clock"]
        rate = inputs["memory_bandwidth"] * inputs["hbm_efficiency"]
        np.testing.assert_allclose(
            found["prefill_core_time"],
            found["prefill_core_flops"] / peak + found["prefill_core_bytes"] / rate, rtol=1e-12)

    @pytest.mark.parametrize("seed", SEEDS)
    def test_decode_has_its_own_kernel(self, seed):
        none, some = (run(fleet("mla", seed), "mla", score_traffic=bytes_)
                      for bytes_ in (0, self.ZETA))
        np.testing.assert_array_equal(some["decode_step_time"], none["decode_step_time"])

    def test_an_indexer_goes_before(self):
        inputs, none = deployment("h200-v32-vllm-tp8", input_tokens=9000)
        _, some = deployment("h200-v32-vllm-tp8", input_tokens=9000, score_traffic=self.ZETA)
        assert inputs["index_topk"] > 0
        assert some["prefill_step_time"] == none["prefill_step_time"]
