"""``calc.evaluate``: known counts, laws of memory and of decode, arrays, and misuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calc
import catalogue
from calc.physics.arrays import Inputs, ceil_div
from calc.physics.decode_floor import distinct_experts, mean_context
from calc.physics.memory import candidate_stages, weights
from calc.physics.shapes import count_parameters

GB = 10**9
AWQ, PLAN = "s2-910b1-awq", "s0-scenario-1"
TOTALS = {"deepseek-v3": 671_026_419_200, "llama-3.1-70b": 70_553_706_496}
MODELS = (*TOTALS, "deepseek-v4-flash", "glm-4.5", "gpt-oss-120b", "qwen3.5-397b-a17b")
DEPLOYMENTS = (AWQ, PLAN, "h200-r1-sglang-mtp", "h20-qwen3-8b", "kt-4090-v021", "s1-launch-awq",
               "wide-lmsys-decode", "wide-rtp-prefill", "v4-flash-8xh20", "minimax-m2.5-8xh20")
INPUTS = catalogue.load_scenario(PLAN).inputs()


def run(scenario=PLAN, *settings, **changes):
    loaded = catalogue.load_scenario(scenario, overrides=settings)
    return calc.evaluate(loaded.inputs() | changes, loaded.model.attention)


def stages(count, which, **changes):
    """Weights of some pipeline stages."""
    q = Inputs(INPUTS | {"pipeline_parallel": count} | changes)
    return weights("mla", q, count_parameters("mla", q), which)


class TestParameters:
    @pytest.mark.parametrize("name", MODELS)
    def test_classes_sum_to_the_known_total(self, name):
        entry = catalogue.load_model(name)
        total = calc.parameters(entry)["total"]
        assert sum(calc.parameters_by_class(entry).values()) == total == TOTALS.get(name, total)

    def test_active_and_routed_of_deepseek(self):
        found = calc.parameters(catalogue.load_model("deepseek-v3"))
        assert round(found["active"] / GB, 2) == 36.63
        assert round(found["routed"] / GB, 1) == 653.9
        assert run(first_k_dense_replace=0)["total_parameters"] > 1.04 * TOTALS["deepseek-v3"]

    def test_documented_shapes_are_not_the_documented_total(self):
        """64 layers of 256 experts as wide as stated hold 13 times what the document prints."""
        entry = catalogue.load_model("s0-deepseek-r1")
        printed = entry.published.total_parameters.value
        assert calc.parameters(entry)["total"] > 10 * printed

    def test_unknown_attention(self):
        with pytest.raises(ValueError, match="mamba"):
            count_parameters("mamba", Inputs({}))


class TestMemory:
    def test_replicated_tensors_do_not_shrink(self):
        """169.56 GB at TP8 in BF16, 2.06 of it on every rank; not 671e9 x 2 / 8 = 167.75."""
        found = run()
        assert round(found["weights_per_device"] / GB, 2) == 169.56
        assert round(found["replicated_weights_per_device"] / GB, 2) == 2.06
        copies = 7 * found["replicated_weights_per_device"]
        assert 8 * found["weights_per_device"] == 2 * TOTALS["deepseek-v3"] + copies

    def test_latent_cache_is_whole_on_every_rank(self):
        name = "kv_layer_bytes_per_token_per_device"
        assert run()["kv_bytes_per_token"] == 70_272
        assert run(tensor_parallel=1)[name] == run(tensor_parallel=8)[name]

    def test_grouped_query_cache_is_divided_by_kv_heads_at_most(self):
        held = [run(PLAN, "model=llama-3.1-70b", tensor_parallel=t)[
            "kv_layer_bytes_per_token_per_device"] for t in (1, 8, 16)]
        assert held[0] == 8 * held[1] == 8 * held[2]

    def test_fp8_with_block_scales_takes_more_than_a_byte(self):
        found = run(PLAN, "precision=fp8-block", tensor_parallel=1)
        assert found["weights_per_device"] > TOTALS["deepseek-v3"]

    @given(st.integers(1, 61), st.sampled_from([1, 2, 4, 8, 16]))
    def test_pipeline_stages_hold_the_model_and_the_fullest_is_a_candidate(self, p, t):
        held = stages(p, np.arange(p), tensor_parallel=t)
        candidates = stages(p, candidate_stages(61, p), tensor_parallel=t)
        assert (held.stage_layers.sum(), held.stage_dense_layers.sum()) == (61, 3)
        assert t > 1 or held.stage_weights.sum() == 2 * TOTALS["deepseek-v3"]
        assert held.stage_weights.max() == candidates.weights_per_device
        assert held.stage_replicated_weights.max() == candidates.replicated_weights_per_device

    @pytest.mark.parametrize(("p", "copies"), [(1, 0), (2, 1), (4, 1)])
    def test_tied_head_is_stored_once_or_on_two_stages(self, p, copies):
        """One stage: the embedding serves twice. Two stages: the last needs its own copy."""
        tied, own = (run(tensor_parallel=1, pipeline_parallel=p, separate_head=separate)
                     for separate in (0, 1))
        assert own["head_weights"] - tied["head_weights"] == (1 - copies) * own["embedding_weights"]
        assert tied["decode_dense_bytes"] == own["decode_dense_bytes"]

    def test_budget_closes(self):
        """Usable = reserve + weights and copies + activations + what is left for the cache."""
        reserve, found = catalogue.load_scenario(AWQ).inputs()["runtime_reserve"], run(AWQ)
        assert found["usable_memory"] == pytest.approx(reserve + sum(found[name] for name in (
            "weights_per_device", "absorbed_copies_per_device", "activations_per_device",
            "free_for_kv_per_device")), rel=1e-12)
        blocks, of_request = found["kv_blocks"], found["blocks_per_request"]
        assert blocks == int(blocks)
        assert found["max_concurrency"] * of_request <= blocks
        assert (found["max_concurrency"] + 1) * of_request > blocks

    @pytest.mark.parametrize(("more", "direction"), [
        ("memory_capacity", 1), ("context_tokens", -1), ("runtime_reserve", -1),
        ("max_num_batched_tokens", -1), ("routed_expert_weight_bytes", -1),
        ("kv_cache_element_bytes", -1)])
    def test_concurrency_is_monotone(self, more, direction):
        larger = 1.5 * catalogue.load_scenario(AWQ).inputs()[more]
        after = run(AWQ, **{more: larger})["max_concurrency"]
        assert direction * (after - run(AWQ)["max_concurrency"]) >= 0

    @given(st.integers(0, 10**15), st.integers(1, 10**6))
    def test_ceiling_division(self, whole, part):
        least = ceil_div(whole, part)
        assert (least - 1) * part < whole <= least * part


class TestDecode:
    @given(st.integers(1, 512), st.integers(1, 4096))
    def test_distinct_experts_are_those_routed_or_all(self, experts, tokens):
        k = min(8, experts)
        hit = distinct_experts(experts, k, tokens)
        assert k * (1 - 1e-12) <= hit <= min(experts, k * tokens) * (1 + 1e-12)
        assert distinct_experts(experts, k, 1) == pytest.approx(k)
        assert distinct_experts(experts, k, 10**6) == pytest.approx(experts)
        assert distinct_experts(0, 0, tokens) == 0

    @given(st.integers(0, 10**5), st.integers(1, 10**4))
    def test_mean_context_is_the_mean_over_the_tokens(self, prompt, output):
        seen = [prompt + i for i in range(1, output + 1)]
        assert mean_context(prompt, output) == pytest.approx(sum(seen) / output)

    def test_parts_of_the_floor(self):
        found = run()
        parts = [found[f"decode_{name}_time"] for name in ("dense", "expert", "kv")]
        assert sum(parts) == pytest.approx(found["tpot_floor"], rel=1e-12)
        few, many = run(concurrency=2), run(concurrency=2048)
        assert few["decode_expert_bytes"] < 0.1 * many["decode_expert_bytes"]

    def test_throughput_and_latency_agree(self):
        """Of all requests, X E2E = c n, and at most so with a first step and then floors."""
        found = run(AWQ, concurrency=64)
        fastest = found["decode_dense_time"] + (512 - 1) * found["tpot_floor"]
        assert found["throughput_ceiling"] * fastest == pytest.approx(64 * 512)
        assert found["output_throughput"] * found["e2e"] == pytest.approx(64 * 512)

    @pytest.mark.parametrize("factor", [1.001, 3.0])
    def test_more_bandwidth_is_never_slower(self, factor):
        slow, fast = run(), run(memory_bandwidth=INPUTS["memory_bandwidth"] * factor)
        assert all(fast[name] <= slow[name] for name in ("tpot_floor", "tpot", "ttft", "e2e"))

    def test_no_measured_row_is_below_the_floor(self):
        """A bound that a measurement undercuts is wrong: the whole grid of the 910B1 system."""
        table = catalogue.load_scenario(AWQ).measured
        found = run(AWQ, **{name: np.array(table.column(name)) for name in (
            "concurrency", "input_tokens", "output_tokens")})
        assert len(table.rows) == 30
        assert (np.array(table.column("tpot")) > found["tpot_floor"]).all()

    @pytest.mark.parametrize("name", DEPLOYMENTS)
    def test_no_estimate_is_below_its_floor(self, name):
        """The floor is that of uniform routing; drafts make several tokens of a step."""
        found = run(name, routing_skew=0)
        assert found["tpot"] * found["tokens_per_step"] >= found["tpot_floor"]


class TestArrays:
    def test_sweep_equals_scalars(self):
        rng, n = np.random.default_rng(7), 2_000
        t, d = 2 ** rng.integers(0, 5, n), 2 ** rng.integers(0, 4, n)
        inputs = INPUTS | {
            "tensor_parallel": t, "data_parallel": d,
            "pipeline_parallel": 2 ** rng.integers(0, 4, n),
            "expert_parallel": np.where(rng.random(n) < 0.5, 1, t * d),
            "concurrency": rng.integers(1, 4096, n), "context_tokens": rng.integers(1, 131_072, n),
            "routed_expert_weight_bytes": rng.choice([2.0, 1.0, 0.5390625], n),
            "memory_capacity": rng.choice([32, 64, 96, 141], n) * GB}
        names = ["weights_per_device", "activations_per_device", "free_for_kv_per_device",
                 "max_concurrency", "headroom_per_device", "tpot_floor", "ttft", "tpot",
                 "output_throughput"]
        swept = calc.sweep(inputs, "mla", names)
        for i in rng.integers(0, n, 60):
            one = {name: value[i] if np.ndim(value) else value for name, value in inputs.items()}
            single = calc.evaluate(one, "mla")
            assert {name: swept[name][i] for name in names} == pytest.approx(
                {name: single[name] for name in names}, rel=1e-14)

    @pytest.mark.parametrize("name", sorted(INPUTS)[::6])
    def test_each_input_alone(self, name):
        column = calc.evaluate(INPUTS | {name: np.full(3, INPUTS[name])}, "mla")
        alone = run()
        assert column.keys() == alone.keys()
        for quantity, value in alone.items():
            np.testing.assert_allclose(
                np.broadcast_to(np.asarray(column[quantity]).T, (3, *np.shape(value)[::-1])),
                np.broadcast_to(np.asarray(value).T, (3, *np.shape(value)[::-1])), rtol=1e-14)

    @pytest.mark.parametrize("dtype", [np.int32, np.float32])
    def test_narrow_numbers_do_not_wrap(self, dtype):
        shapes = {name: np.full(2, INPUTS[name], dtype=dtype) for name in (
            "hidden_size", "vocab_size", "n_routed_experts", "num_hidden_layers")}
        assert (run(**shapes)["total_parameters"] == TOTALS["deepseek-v3"]).all()


MISUSE = [
    ({"tensor_paralel": 16}, "not an input"), ({"decode_context_tokens": 5}, "not an input"),
    ({"tensor_parallel": 3}, "'tensor_parallel' is 3, expected a divisor of the 128"),
    ({"tensor_parallel": -2}, "'tensor_parallel' is -2, expected a whole number of at least 1"),
    ({"tensor_parallel": float("nan")}, "'tensor_parallel' is nan, expected a whole number"),
    ({"pipeline_parallel": 1.5}, "'pipeline_parallel' is 1.5, expected a whole number"),
    ({"expert_parallel": np.array([8, 0])}, "'expert_parallel' is 0")]
OF_SWEEPS = [
    ({}, "tpot", "arrays of one length"), ({"concurrency": np.ones((4, 5))}, "tpot", "of one len"),
    ({"concurrency": np.ones(4), "context_tokens": np.ones(5)}, "tpot", "arrays of one length"),
    ({"concurrency": np.ones(4)}, "stage_weights", "stage_weights"),
    ({"concurrency": np.ones(4)}, "latency", "latency")]


class TestMisuse:
    """A sweep is written by hand: what is misspelt or misshapen is refused by its name."""

    @pytest.mark.parametrize(("changes", "message"), MISUSE)
    def test_bad_input_is_refused(self, changes, message):
        with pytest.raises(ValueError, match=message):
            calc.evaluate(INPUTS | changes, "mla")

    def test_missing_input_is_named(self):
        with pytest.raises(ValueError, match="block_size"):
            calc.evaluate({name: INPUTS[name] for name in INPUTS if name != "block_size"}, "mla")

    @pytest.mark.parametrize(("changes", "name", "message"), OF_SWEEPS)
    def test_bad_sweep_is_refused(self, changes, name, message):
        with pytest.raises(ValueError, match=message):
            calc.sweep(INPUTS | changes, "mla", [name])
