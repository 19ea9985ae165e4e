"""The derivations: numbers known from elsewhere, limits, and the two codings against each other."""

from __future__ import annotations

import ast
import math
from dataclasses import replace

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import calc
import catalogue
from notebooks.derive import lock
from notebooks.derive.crosscheck import TOLERANCE, crosscheck, hold_within_bounds
from notebooks.derive.formulas import dimensions
from notebooks.derive.formulas.errors import DerivationError
from notebooks.derive.formulas.exported import (
    VARIANTS,
    evaluate_all,
    load_formulas,
    order,
    select,
    stagewise,
)
from notebooks.derive.formulas.samples import random_inputs
from notebooks.derive.formulas.symbols import sym
from notebooks.derive.formulas.trees import from_tree, to_tree

FORMULAS = load_formulas()
SEEDS = range(100)
DERIVATIONS = ("architecture", "memory", "compute", "communication", "latency", "throughput",
               "serving", "cost", "scale", "day")


def rank(model="deepseek-v3", precision="bf16", **changed):
    """Every quantity of a rank of some model."""
    entry = catalogue.load_model(model)
    base = catalogue.load_scenario("s0-scenario-1").inputs()
    inputs = {**base, **catalogue.model_inputs(entry),
              **catalogue.precision_inputs(catalogue.load_precision(precision)),
              "data_parallel": 1, "concurrency": 1, **changed}
    return evaluate_all(select(FORMULAS, entry.attention), inputs)


@pytest.mark.parametrize(("name", "expected", "digits"), [
    ("total_parameters", 671_026_419_200, 0),
    ("active_parameters", 36.63e9, 7),
    ("active_parameters_with_embedding", 37.55e9, 7),
    ("routed_parameters", 653.9e9, 8),
    ("kv_bytes_per_token", 70_272, 0),
    ("weights_per_device", 169.56e9, 7),
    ("replicated_weights_per_device", 2.06e9, 7),
])
def test_known_numbers_of_deepseek_v3(name, expected, digits):
    found = rank()[name]
    assert abs(found - expected) <= (0.5 * 10**digits if digits else 0)


def test_known_numbers_of_the_other_models():
    llama, stated = rank("llama-3.1-70b"), rank("s0-deepseek-r1")
    assert llama["total_parameters"] == 70_553_706_496
    assert llama["active_parameters_with_embedding"] == llama["total_parameters"]
    assert llama["kv_bytes_per_token"] == 327_680
    assert stated["total_parameters"] == pytest.approx(8.88e12, rel=1e-3)


def test_an_fp8_latent_entry_has_656_bytes():
    latent = catalogue.load_format("fp8-latent128").bytes_per_element
    assert rank(kv_cache_element_bytes=latent)["kv_layer_bytes_per_token"] == 656


@pytest.mark.parametrize(("context", "latents"), [(1, 1), (2048, 2048), (2049, 2048), (9, 9),
                                                  (131_072, 2048)])
def test_sparse_attention_reads_what_is_picked_and_every_index_key(context, latents):
    values = rank("deepseek-v3.2", input_tokens=context - 1, output_tokens=1)
    assert values["decode_kv_bytes"] == 61 * 2 * (latents * 576 + context * 128)


@pytest.mark.parametrize(("context", "seen"), [(1, 1), (128, 128), (129, 128), (131_072, 128)])
def test_a_windowed_layer_reads_its_window(context, seen):
    values = rank("gpt-oss-120b", input_tokens=context - 1, output_tokens=1, tensor_parallel=1)
    assert values["decode_kv_bytes"] == 18 * (context + seen) * 2 * 8 * 64 * 2


def test_a_limit_met_while_decoding_counts_token_by_token():
    values = rank("gpt-oss-120b", input_tokens=126, output_tokens=4)
    assert values["decode_window_tokens"] == (127 + 128 + 128 + 128) / 4
    assert values["decode_attended_tokens"] == values["decode_context_tokens"] == 128.5


def test_distinct_experts_begin_at_k_and_end_at_all():
    expr = from_tree(FORMULAS["distinct_experts"].tree)
    chosen, count = sym.num_experts_per_tok, sym.n_routed_experts
    assert sympy.simplify(expr.args[1][0].subs(sym.expert_group_tokens, 1)) == chosen
    tokens = sympy.Symbol("tokens", positive=True)
    many = expr.args[1][0].subs({chosen: 8, count: 256}).subs(sym.expert_group_tokens, tokens)
    assert sympy.limit(many, tokens, sympy.oo) == 256
    assert expr.subs(count, 0) == 0


def test_one_rank_holds_every_parameter_once():
    values = rank(tensor_parallel=1)
    assert values["weights_per_device"] == 2 * values["total_parameters"]


@given(st.sampled_from([1, 2, 4, 8, 16, 32, 64, 128]))
@settings(max_examples=8, deadline=None)
def test_ranks_hold_the_model_once_and_their_copies(ranks):
    values = rank(tensor_parallel=ranks)
    divided = values["weights_per_device"] - values["replicated_weights_per_device"]
    copies = values["replicated_weights_per_device"]
    assert ranks * divided + copies == pytest.approx(2 * values["total_parameters"], rel=1e-12)


@given(st.integers(1, 120), st.integers(1, 120), st.integers(0, 120))
@settings(max_examples=60, deadline=None)
def test_every_layer_is_on_one_stage(layers, stages, dense):
    stages, dense = min(stages, layers), min(dense, layers)
    names = ("stage_first_layer", "stage_layers", "stage_dense_layers")
    formulas = {name: FORMULAS[name] for name in names}
    inputs = {"num_hidden_layers": layers, "pipeline_parallel": stages,
              "first_k_dense_replace": dense}
    found = [evaluate_all(formulas, inputs, stage) for stage in range(stages)]
    start = 0
    for values in found:
        assert values["stage_first_layer"] == start
        assert values["stage_dense_layers"] == len(range(start, min(dense, start
                                                                    + values["stage_layers"])))
        start += values["stage_layers"]
    assert start == layers


@pytest.mark.parametrize("key", sorted(FORMULAS))
def test_a_stored_formula_is_canonical_and_of_its_unit(key):
    formula = FORMULAS[key]
    expr = from_tree(formula.tree)
    assert to_tree(expr) == formula.tree
    assert formula.unit == catalogue.symbols()[formula.name].unit
    dimensions.check(formula.name, expr)


def test_stored_formulas_have_an_order():
    for attention in VARIANTS:
        chosen = select(FORMULAS, attention)
        assert sorted(order(chosen)) == sorted(chosen)
        assert stagewise(chosen) == {name for name in chosen if name.startswith("stage_")}


def test_every_formula_has_a_place_to_be_read():
    for formula in FORMULAS.values():
        assert (lock.NOTEBOOKS / f"{formula.notebook}.md").is_file()
        assert formula.anchor.startswith("eq-")


@pytest.mark.whole
@pytest.mark.parametrize("name", catalogue.deployment_names())
def test_the_two_codings_agree_on_every_scenario(name):
    scenario = catalogue.load_scenario(name)
    assert crosscheck(scenario.inputs(), scenario.model.attention).worst <= TOLERANCE


@pytest.mark.parametrize("name", catalogue.names("models"))
def test_the_two_codings_agree_on_every_model(name):
    model = catalogue.load_model(name)
    inputs = {**catalogue.load_scenario("s0-scenario-1").inputs(), **catalogue.model_inputs(model)}
    assert crosscheck(inputs, model.attention).worst <= TOLERANCE


@pytest.mark.parametrize("attention", VARIANTS)
def test_the_two_codings_agree_on_random_deployments(attention):
    for seed in SEEDS:
        try:
            crosscheck(random_inputs(seed, attention), attention)
        except DerivationError as error:
            pytest.fail(f"seed {seed}: {error}")


@pytest.mark.parametrize("factor", [1 / 4, 4])
def test_a_step_on_which_both_agree_is_held_within_its_bounds(factor):
    scenario = catalogue.load_scenario("s2-910b1-awq")
    computed = calc.evaluate(scenario.inputs(), "mla")
    hold_within_bounds(computed, scenario.inputs())
    computed["prefill_step_time"] = computed["prefill_step_time"] * factor
    with pytest.raises(DerivationError, match=r"prefill_step_time is .* expected between .*alone"):
        hold_within_bounds(computed, scenario.inputs())


def test_random_deployments_cover_what_is_general():
    drawn = [random_inputs(seed, attention) for seed in SEEDS for attention in VARIANTS]
    assert {bool(i["n_routed_experts"]) for i in drawn} == {True, False}
    assert {i["separate_head"] for i in drawn} == {0, 1}
    for switch in ("router_bias", "expert_bias", "attention_bias", "attention_output_bias",
                   "qk_norm", "attention_sinks"):
        assert {i[switch] for i in drawn} == {0, 1}, switch
    assert any(i["expert_bias"] and i["n_routed_experts"] for i in drawn)
    assert any(i["index_head_dim"] and i["n_routed_experts"] for i in drawn)
    assert any(i["kv_lora_rank"] and not i["index_head_dim"] for i in drawn)
    for limit in ("index_topk", "sliding_window"):
        limited = [i for i in drawn if i[limit]]
        ends = [(i["input_tokens"], i[limit], i["input_tokens"] + i["output_tokens"])
                for i in limited]
        assert any(k <= first for first, k, _ in ends), f"{limit} met before decode"
        assert any(first < k < last for first, k, last in ends), f"{limit} met during decode"
        assert any(k == last for _, k, last in ends), f"{limit} met by the last token"
        assert any(k > last for _, k, last in ends), f"{limit} never met"
        assert len(limited) < len(drawn)
    assert any(0 < i["full_attention_layers"] < i["num_hidden_layers"] for i in drawn)
    assert any(i["index_topk"] and i["full_attention_layers"] < i["num_hidden_layers"]
               for i in drawn)
    assert any(i["expert_parallel"] > i["tensor_parallel"] for i in drawn)
    assert any(1 < i["expert_parallel"] < i["tensor_parallel"] for i in drawn)
    asked = [(i["expert_tensor_parallel"], i["expert_parallel"], i["tensor_parallel"])
             for i in drawn if i["expert_tensor_parallel"]]
    assert any(slices > 1 and e * slices > t for slices, e, t in asked), "over replicas"
    assert any(slices > 1 < e and e * slices > t for slices, e, t in asked), "of some experts"
    assert any(slices > 1 and e * slices == t for slices, e, t in asked), "within tensor parallel"
    assert any(slices == 1 for slices, _, _ in asked), "none"
    assert any(i["tensor_parallel"] > i["num_key_value_heads"] for i in drawn)
    assert any(i["num_hidden_layers"] % i["pipeline_parallel"] for i in drawn)
    assert any(i["q_lora_rank"] == 0 < i["kv_lora_rank"] for i in drawn)
    assert any(i["context_tokens"] % i["block_size"] == 0 for i in drawn)
    assert any(i["micro_batches"] > 1 and i["offloaded_share"] and i["host_overlap"] for i in drawn)
    assert any(0 < i["offloaded_share"] < 1 and i["num_experts_per_tok"] for i in drawn)
    assert any(i["offloaded_share"] < 1 and 0 < i["fetched_share"] < 1 and 0 < i["stored_share"] < 1
               and 0 < i["device_hit_share"] < 1 and i["num_experts_per_tok"] for i in drawn)
    assert any(i["fetched_share"] and not i["stored_share"] and i["host_overlap"] for i in drawn)
    for normal in (0, 1):
        travels = [i for i in drawn if i["exchange_normal"] == normal and i["n_routed_experts"]
                   and i["expert_parallel"] > i["tensor_parallel"]]
        assert any(i["expert_parallel"] > i["devices_per_node"] > 1 for i in travels), normal
    assert any(i["separate_pools"] and i["pipeline_parallel"] > 1 for i in drawn)
    assert any(i["gemm_tile_rows"] > i["max_num_batched_tokens"] for i in drawn)


def test_a_disagreement_and_a_missing_quantity_are_named():
    scenario = catalogue.load_scenario("s0-scenario-1")
    formulas = dict(FORMULAS)
    wrong = formulas["usable_memory"]
    formulas["usable_memory"] = replace(wrong, tree=["multiply", 2, wrong.tree])
    with pytest.raises(DerivationError, match=r"disagree: .*usable_memory is 1112"):
        crosscheck(scenario.inputs(), "mla", formulas)
    formulas["usable_memory"] = replace(wrong, tree=["multiply", 1 + 1e-8, wrong.tree])
    with pytest.raises(DerivationError, match="disagree"):
        crosscheck(scenario.inputs(), "mla", formulas)
    del formulas["usable_memory"]
    with pytest.raises(DerivationError, match=r"usable_memory \(only in calc\)"):
        crosscheck(scenario.inputs(), "mla", formulas)


def test_reading_takes_no_less_than_its_bounds():
    for requests in (1, 7, 64, 500):
        values = rank(concurrency=requests)
        assert 8 <= values["distinct_experts"] <= min(256, 8 * requests) + 1e-9
        times = [values[f"decode_{part}_time"] for part in ("dense", "expert", "kv")]
        assert math.isclose(values["tpot_floor"] * values["tokens_per_step"], sum(times))


def on_the_host(**changed):
    """A decode step with half of the experts on the host, in two micro-batches."""
    return rank(**{"tensor_parallel": 8, "expert_parallel": 8, "concurrency": 64,
                   "micro_batches": 2, "overlap_efficiency": 1, "offloaded_share": 0.5,
                   "offloaded_weight_bytes": 0.5, "host_overlap": 1, "host_peak": 2e13,
                   "host_gemm_efficiency": 0.5, "host_memory_bandwidth": 5e11,
                   "host_stream_efficiency": 0.5, "host_link_bandwidth": 3e10, "host_sync": 0,
                   **changed})


@pytest.mark.parametrize("host", [1e11, 1e12, 1e13])
def test_no_time_is_hidden_twice(host):
    """With all hidden that can be, the longer of the host and what is left of the card remains."""
    found = on_the_host(host_memory_bandwidth=host)
    on_host = 2 * found["decode_offload_time"]
    longer = max(found["decode_compute_time"], found["decode_communication_time"])
    assert found["decode_device_time"] == pytest.approx(max(on_host, longer - on_host), rel=1e-12)


@pytest.mark.parametrize(("share", "travel"), [(1, 1), (0.5, 255 / 256), (1 / 256, 0.0308)])
def test_a_token_travels_to_the_host_if_any_of_its_experts_is_there(share, travel):
    fast = {"host_peak": 1e30, "host_memory_bandwidth": 1e30, "offloaded_share": share}
    found = on_the_host(**fast)["decode_offload_time"] * 3e10
    assert found == pytest.approx(travel * 2 * 58 * 32 * 7168 * 2, rel=2e-3)


@pytest.mark.parametrize(("ranks", "per_token"), [
    (8, 7 / 8 * 8 * (1 - (7 / 8) ** 8)), (64, 7 / 8 * 64 * (1 - (63 / 64) ** 8))])
def test_normal_mode_forwards_a_token_once_to_each_rank(ranks, per_token):
    found = rank(tensor_parallel=1, data_parallel=ranks, expert_parallel=ranks, concurrency=ranks,
                 devices_per_node=8, full_mesh=0, device_link_bandwidth=1e11,
                 exchange_efficiency=1, network_bandwidth=1e30, exchange_normal=1,
                 exchange_alpha=0, dispatch_element_bytes=1, n_group=1, even_routing=1,
                 topk_group=1)["decode_exchange_time"]
    assert found == pytest.approx(58 * 7168 * 3 * per_token / 1e11, rel=1e-12)


def test_the_stages_of_a_pool_send_their_caches_at_the_same_time():
    def time(stages):
        return rank(pipeline_parallel=stages, network_alpha=1e-5)["kv_transfer_time"] - 1e-5
    assert time(2) == pytest.approx(time(1) * 31 / 61)
    assert time(61) == pytest.approx(time(1) / 61)


def test_cached_positions_that_are_expanded_again_fill_their_tiles():
    chunk = {"input_tokens": 4097, "prefix_hit_share": 4096 / 4097, "load_overlap": 1,
             "memory_bandwidth": 1e30, "gemm_tile_rows": 64, "tensor_parallel": 1}
    found, full = rank(**chunk), rank(**{**chunk, "gemm_tile_rows": 1})
    padding = found["prefill_attention_time"] / full["prefill_attention_time"]
    again = 4096 * 512 * 128 * 256  # positions by the weights that expand one
    own = 187_105_280  # weights of a layer's projections
    assert padding == pytest.approx((64 * own + again) / (own + again), rel=1e-3)


def test_the_derivations_are_those_of_the_book():
    paths = lock.derivations()
    assert {path.stem for path in paths} == set(DERIVATIONS)
    assert {formula.notebook for formula in FORMULAS.values()} == set(DERIVATIONS)


def test_a_derivation_that_is_run_by_itself_meets_the_lock(monkeypatch):
    """The shortest; the build of the book runs all of them, whole."""
    monkeypatch.delenv("FORMULAS_LOCK", raising=False)
    before = lock.FORMULAS.read_bytes()
    lock.execute(lock.NOTEBOOKS / "cost.md")
    assert lock.FORMULAS.read_bytes() == before


def test_what_is_only_shown_is_left_out_of_a_derivation():
    kept = "\n".join(ast.unparse(one) for one in lock.needed(ast.parse("""
from notebooks.show import display
from notebooks.pages.derivations import serving as page
derivation = Derivation("law")
derive = partial(display.derive, derivation)
def both(name):
    return derive(name, counted + rate)
rate = 2
slow = page.simulated()
counted = 0
for one in range(3):
    counted += one
found = page.grown(slow)
page.picture(found)
for each in found:
    page.row(each)
unused = both("law")
assert rate == 2
counted""").body))
    assert "page" not in kept
    assert "found" not in kept
    assert "unused = both('law')" in kept
    assert "counted += one" in kept
    assert "assert rate == 2" in kept
    assert kept.count("\n") == 10


def test_a_derivation_that_fails_says_where(tmp_path, monkeypatch, capsys):
    path = tmp_path / "law.md"
    path.write_text((lock.NOTEBOOKS / "architecture.md").read_text("utf-8").split("\n+++")[0].split(
        "\n---\n")[0] + "\n---\n\n# A law\n\n```{code-cell} ipython3\n"
        "x = 2\n"
        "assert x == 3, 'It is three.'  # Derivation('law')\n```\n", encoding="utf-8")
    line = path.read_text("utf-8").splitlines().index(
        "assert x == 3, 'It is three.'  # Derivation('law')") + 1
    monkeypatch.setattr(lock, "derivations", lambda: [path])
    monkeypatch.setenv(lock.LOCK, "write")
    assert lock.main() == 1
    assert capsys.readouterr().err == (f"law.md, line {line}: AssertionError: "
                                       "It is three. x is 2; not so: x == 3\n")
