"""The runtime: known counts, laws that hold for any deployment, and the traps of this field."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calc
import catalogue
from calc.physics.arrays import ceil_div
from calc.physics.decode_floor import distinct_experts, mean_context
from calc.physics.memory import candidate_stages, weights
from calc.physics.shapes import count_parameters

GB = 10**9
KNOWN_TOTALS = {"deepseek-v3": 671_026_419_200, "llama-3.1-70b": 70_553_706_496}


def model(name):
    entry = catalogue.load_model(name)
    return count_parameters(entry.attention, SimpleNamespace(**catalogue.model_inputs(entry)))


def run(scenario="s0-scenario-1", *settings, **changes):
    loaded = catalogue.load_scenario(scenario, overrides=settings)
    return calc.evaluate(loaded.inputs() | changes, loaded.model.attention)


class TestParameters:
    """Counts from shapes against what the authors publish."""

    @pytest.mark.parametrize(("name", "total"), KNOWN_TOTALS.items())
    def test_totals_are_exact(self, name, total):
        assert model(name).total_parameters == total

    def test_deepseek_active_and_routed(self):
        counted = model("deepseek-v3")
        assert round(counted.active_parameters / GB, 2) == 36.63
        assert round(counted.active_parameters_with_embedding / GB, 2) == 37.55
        assert round(counted.routed_parameters / GB, 1) == 653.9

    def test_within_half_a_percent_of_the_printed_total(self):
        for name in KNOWN_TOTALS:
            printed = catalogue.load_model(name).published.total_parameters.value
            assert model(name).total_parameters == pytest.approx(printed, rel=5e-3)

    def test_the_documented_shapes_are_not_the_documented_total(self):
        """64 layers of 256 experts as wide as stated hold 13 times what the document prints."""
        printed = catalogue.load_model("s0-deepseek-r1").published.total_parameters.value
        assert model("s0-deepseek-r1").total_parameters > 10 * printed

    @pytest.mark.parametrize("name", catalogue.names("models"))
    def test_classes_sum_to_the_total(self, name):
        entry = catalogue.load_model(name)
        assert sum(calc.parameters_by_class(entry).values()) == calc.parameters(entry)["total"]

    def test_leading_dense_layers_are_not_counted_as_moe(self):
        inputs = catalogue.model_inputs(catalogue.load_model("deepseek-v3"))
        as_moe = count_parameters("mla", SimpleNamespace(**inputs | {"first_k_dense_replace": 0}))
        assert as_moe.total_parameters > 1.04 * KNOWN_TOTALS["deepseek-v3"]

    def test_a_gated_mlp_has_three_matrices(self):
        counted = model("llama-3.1-70b")
        assert counted.dense_mlp_parameters == 3 * 8192 * 28672

    def test_unknown_attention(self):
        with pytest.raises(ValueError, match="mamba"):
            count_parameters("mamba", SimpleNamespace())


class TestMemory:
    """What a rank holds."""

    def test_replicated_tensors_do_not_shrink(self):
        """169.56 GB at TP8 in BF16, 2.06 of it on every rank; not 671e9 x 2 / 8 = 167.75."""
        found = run()
        assert round(found["weights_per_device"] / GB, 2) == 169.56
        assert round(found["replicated_weights_per_device"] / GB, 2) == 2.06
        assert found["weights_per_device"] > 671e9 * 2 / 8

    def test_latent_cache_of_a_token(self):
        assert run()["kv_bytes_per_token"] == 70_272

    def test_latent_cache_is_replicated_over_tensor_parallel_ranks(self):
        one = run(tensor_parallel=1)["kv_layer_bytes_per_token_per_device"]
        assert run(tensor_parallel=8)["kv_layer_bytes_per_token_per_device"] == one

    def test_grouped_query_cache_is_divided_by_kv_heads_at_most(self):
        settings = ["model=llama-3.1-70b"]
        held = [run("s0-scenario-1", *settings, tensor_parallel=t)
                ["kv_layer_bytes_per_token_per_device"] for t in (1, 8, 16)]
        assert held[0] == 8 * held[1]
        assert held[1] == held[2]

    def test_fp8_with_block_scales_takes_more_than_a_byte(self):
        found = run("s0-scenario-1", "precision=fp8-block", tensor_parallel=1)
        assert found["weights_per_device"] > KNOWN_TOTALS["deepseek-v3"]

    def test_tensor_parallel_ranks_together_hold_the_model_and_the_copies(self):
        t = 8
        found = run()
        whole = 2 * KNOWN_TOTALS["deepseek-v3"]
        copies = (t - 1) * found["replicated_weights_per_device"]
        assert t * found["weights_per_device"] == whole + copies

    @given(st.integers(1, 61))
    def test_pipeline_stages_together_hold_the_model(self, p):
        """Layers, dense layers and bytes of all stages sum to the whole."""
        scenario = catalogue.load_scenario("s0-scenario-1")
        q = SimpleNamespace(**scenario.inputs() | {"pipeline_parallel": p, "tensor_parallel": 1})
        counted = count_parameters("mla", q)
        held = weights("mla", q, counted, np.arange(p))
        assert held.stage_layers.sum() == 61
        assert held.stage_dense_layers.sum() == 3
        assert held.stage_weights.sum() == 2 * KNOWN_TOTALS["deepseek-v3"]

    @given(st.integers(1, 61), st.sampled_from([1, 2, 4, 8, 16]))
    def test_the_fullest_stage_is_among_the_candidates(self, p, t):
        scenario = catalogue.load_scenario("s0-scenario-1")
        q = SimpleNamespace(**scenario.inputs() | {"pipeline_parallel": p, "tensor_parallel": t})
        counted = count_parameters("mla", q)
        everywhere = weights("mla", q, counted, np.arange(p))
        candidates = weights("mla", q, counted, candidate_stages(61, p))
        assert everywhere.stage_weights.max() == candidates.weights_per_device
        assert (everywhere.stage_replicated_weights.max()
                == candidates.replicated_weights_per_device)

    def test_a_tied_head_is_stored_once_or_on_two_stages(self):
        """One stage: the embedding serves twice. Two stages: the last needs its own copy."""
        matrix = run(tensor_parallel=1)["embedding_weights"]
        for p, copies in ((1, 0), (2, 1), (4, 1)):
            tied, own = (run(tensor_parallel=1, pipeline_parallel=p, separate_head=separate)
                         for separate in (0, 1))
            assert own["head_weights"] - tied["head_weights"] == (1 - copies) * matrix

    def test_a_tied_head_is_read_at_every_step(self):
        tied, own = (run(separate_head=separate) for separate in (0, 1))
        assert tied["decode_dense_bytes"] == own["decode_dense_bytes"]

    def test_budget_closes(self):
        """Usable = reserve + weights and copies + activations + what is left for the cache."""
        scenario = catalogue.load_scenario("s2-910b1-awq")
        inputs, found = scenario.inputs(), run("s2-910b1-awq")
        assert found["usable_memory"] == pytest.approx(
            inputs["runtime_reserve"] + found["weights_per_device"]
            + found["absorbed_copies_per_device"] + found["activations_per_device"]
            + found["free_for_kv_per_device"], rel=1e-12)

    def test_concurrency_fills_whole_blocks(self):
        found = run("s2-910b1-awq")
        blocks = found["kv_blocks"]
        assert blocks == int(blocks)
        assert found["max_concurrency"] * found["blocks_per_request"] <= blocks
        assert (found["max_concurrency"] + 1) * found["blocks_per_request"] > blocks

    @pytest.mark.parametrize(("more", "direction"), [
        ("memory_capacity", 1), ("context_tokens", -1), ("runtime_reserve", -1),
        ("max_num_batched_tokens", -1), ("routed_expert_weight_bytes", -1),
        ("kv_cache_element_bytes", -1),
    ])
    def test_monotonicity(self, more, direction):
        inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
        before = run("s2-910b1-awq")["max_concurrency"]
        after = run("s2-910b1-awq", **{more: inputs[more] * 1.5})["max_concurrency"]
        assert direction * (after - before) >= 0

    @given(st.integers(0, 10**15), st.integers(1, 10**6))
    def test_ceiling_division(self, whole, part):
        least = ceil_div(whole, part)
        assert (least - 1) * part < whole <= least * part


class TestDecodeFloor:
    """Bytes a step must read."""

    def test_one_token_hits_k_experts_and_many_hit_all(self):
        assert distinct_experts(256, 8, 1) == pytest.approx(8)
        assert distinct_experts(256, 8, 10**6) == pytest.approx(256)
        assert distinct_experts(0, 0, 32) == 0

    @given(st.integers(1, 512), st.integers(1, 4096))
    def test_never_more_than_routed_or_all(self, experts, tokens):
        k = min(8, experts)
        hit = distinct_experts(experts, k, tokens)
        assert k * (1 - 1e-12) <= hit <= min(experts, k * tokens) * (1 + 1e-12)

    def test_not_all_experts_are_read_at_every_batch(self):
        small, large = run(concurrency=2), run(concurrency=2048)
        assert small["decode_expert_bytes"] < 0.1 * large["decode_expert_bytes"]

    @given(st.integers(0, 10**5), st.integers(1, 10**4))
    def test_mean_context_is_the_mean_over_the_tokens(self, prompt, output):
        seen = [prompt + i for i in range(1, output + 1)]
        assert mean_context(prompt, output) == pytest.approx(sum(seen) / output)

    def test_parts_sum_to_the_whole(self):
        found = run()
        parts = [found[f"decode_{name}_time"] for name in ("dense", "expert", "kv")]
        assert sum(parts) == pytest.approx(found["tpot_floor"], rel=1e-12)
        assert max(parts) <= found["tpot_floor"]

    def test_throughput_and_latency_agree(self):
        """Of all requests, X E2E = c n, and at most so with a first step and then floors."""
        found = run("s2-910b1-awq", concurrency=64)
        fastest = found["decode_dense_time"] + (512 - 1) * found["tpot_floor"]
        assert found["throughput_ceiling"] * fastest == pytest.approx(64 * 512)
        assert found["output_throughput"] * found["e2e"] == pytest.approx(64 * 512)

    @given(st.floats(1, 10))
    def test_more_bandwidth_is_never_slower(self, factor):
        base = catalogue.load_scenario("s0-scenario-1").inputs()["memory_bandwidth"]
        slow, fast = run(), run(memory_bandwidth=base * factor)
        for name in ("tpot_floor", "tpot", "ttft", "e2e"):
            assert fast[name] <= slow[name], name

    def test_no_measured_row_is_below_the_floor(self):
        """A bound that a measurement undercuts is wrong: the whole grid of the 910B1 system."""
        scenario = catalogue.load_scenario("s2-910b1-awq")
        table = scenario.measured
        lengths = ("concurrency", "input_tokens", "output_tokens")
        found = calc.evaluate(scenario.inputs() | {
            name: np.array(table.column(name)) for name in lengths}, "mla")
        assert len(table.rows) == 30
        assert (np.array(table.column("tpot")) > found["tpot_floor"]).all()

    @pytest.mark.parametrize("name", catalogue.deployment_names())
    def test_no_estimate_is_below_its_floor(self, name):
        """The floor is that of uniform routing: skewed, fewer experts are read than it counts.

        Drafts make several tokens of a step.
        """
        found = run(name, routing_skew=0)
        assert found["tpot"] * found["tokens_per_step"] >= found["tpot_floor"]


class TestArrays:
    """Any scalar may be an array, and gives what the scalar gives."""

    def test_sweep_equals_scalars(self):
        rng = np.random.default_rng(7)
        n = 50_000
        base = catalogue.load_scenario("s0-scenario-1").inputs()
        t, d = 2 ** rng.integers(0, 5, n), 2 ** rng.integers(0, 4, n)
        inputs = base | {
            "tensor_parallel": t, "data_parallel": d,
            "pipeline_parallel": 2 ** rng.integers(0, 4, n),
            "expert_parallel": np.where(rng.random(n) < 0.5, 1, t * d),
            "concurrency": rng.integers(1, 4096, n),
            "context_tokens": rng.integers(1, 131_072, n),
            "routed_expert_weight_bytes": rng.choice([2.0, 1.0, 0.5390625], n),
            "memory_capacity": rng.choice([32, 64, 96, 141], n) * GB,
        }
        names = ["weights_per_device", "replicated_weights_per_device", "activations_per_device",
                 "free_for_kv_per_device", "max_concurrency", "headroom_per_device", "tpot_floor",
                 "ttft", "tpot", "output_throughput"]
        swept = calc.sweep(inputs, "mla", names)
        for i in rng.integers(0, n, 200):
            one = {name: value[i] if np.ndim(value) else value for name, value in inputs.items()}
            single = calc.evaluate(one, "mla")
            for name in names:
                assert swept[name][i] == pytest.approx(single[name], rel=1e-14), name

    @pytest.mark.parametrize("name", sorted(catalogue.load_scenario("s0-scenario-1").inputs()))
    def test_each_input_alone(self, name):
        base = catalogue.load_scenario("s0-scenario-1").inputs()
        column = calc.evaluate(base | {name: np.full(3, base[name])}, "mla")
        alone = calc.evaluate(base, "mla")
        assert column.keys() == alone.keys()
        for quantity, value in alone.items():
            np.testing.assert_allclose(
                np.broadcast_to(np.asarray(column[quantity]).T, (3, *np.shape(value)[::-1])),
                np.broadcast_to(np.asarray(value).T, (3, *np.shape(value)[::-1])), rtol=1e-14)

    def test_a_missing_input_is_named(self):
        inputs = catalogue.load_scenario("s0-scenario-1").inputs()
        del inputs["block_size"]
        with pytest.raises(ValueError, match="block_size"):
            calc.evaluate(inputs, "mla")


class TestMisuse:
    """A sweep is written by hand: what is misspelt or misshapen is told."""

    @pytest.mark.parametrize("wrong", [
        {"tensor_paralel": 16}, {"decode_context_tokens": 5},
    ])
    def test_an_unknown_input_is_refused(self, wrong):
        inputs = catalogue.load_scenario("s0-scenario-1").inputs()
        with pytest.raises(ValueError, match="not an input"):
            calc.evaluate(inputs | wrong, "mla")

    @pytest.mark.parametrize(("changes", "says"), [
        ({"tensor_parallel": 3}, "'tensor_parallel' is 3, expected a divisor of the 128"),
        ({"tensor_parallel": -2}, "'tensor_parallel' is -2, expected a whole number of at least 1"),
        ({"tensor_parallel": float("nan")}, "'tensor_parallel' is nan, expected a whole number"),
        ({"pipeline_parallel": 1.5}, "'pipeline_parallel' is 1.5, expected a whole number"),
        ({"expert_parallel": np.array([8, 0])}, "'expert_parallel' is 0")])
    def test_ranks_that_nothing_is_cut_into_are_refused(self, changes, says):
        inputs = catalogue.load_scenario("s0-scenario-1").inputs()
        with pytest.raises(ValueError, match=says):
            calc.evaluate(inputs | changes, "mla")

    @pytest.mark.parametrize("changes", [
        {}, {"concurrency": np.ones((4, 5))},
        {"concurrency": np.ones(4), "context_tokens": np.ones(5)},
    ])
    def test_a_sweep_takes_arrays_of_one_length(self, changes):
        inputs = catalogue.load_scenario("s0-scenario-1").inputs()
        with pytest.raises(ValueError, match="arrays of one length"):
            calc.sweep(inputs | changes, "mla", ["tpot"])

    @pytest.mark.parametrize("name", ["stage_weights", "latency"])
    def test_a_sweep_names_what_it_cannot_give(self, name):
        inputs = catalogue.load_scenario("s0-scenario-1").inputs()
        with pytest.raises(ValueError, match=name):
            calc.sweep(inputs | {"concurrency": np.ones(4)}, "mla", [name])

    @pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
    def test_narrow_integers_do_not_wrap(self, dtype):
        inputs = catalogue.load_scenario("s0-scenario-1").inputs()
        shapes = {name: np.full(2, inputs[name], dtype=dtype) for name in (
            "hidden_size", "vocab_size", "n_routed_experts", "num_hidden_layers")}
        found = calc.evaluate(inputs | shapes, "mla")
        assert (found["total_parameters"] == KNOWN_TOTALS["deepseek-v3"]).all()
