"""Values of the exported formulas: published numbers, limits and conservation laws."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from notebooks.derive import lock
from notebooks.derive.formulas.derivation import check_dimensions
from notebooks.derive.formulas.exported import (
    VARIANTS,
    evaluate_all,
    load_formulas,
    order,
    select,
    stagewise,
)
from notebooks.derive.formulas.symbols import sym
from notebooks.derive.formulas.trees import from_tree, to_tree

FORMULAS = load_formulas()
ON_HOST = {"tensor_parallel": 8, "expert_parallel": 8, "concurrency": 64, "micro_batches": 2,
           "overlap_efficiency": 1, "offloaded_share": 0.5, "offloaded_weight_bytes": 0.5,
           "host_overlap": 1, "host_peak": 2e13, "host_gemm_efficiency": 0.5,
           "host_memory_bandwidth": 5e11, "host_stream_efficiency": 0.5,
           "host_link_bandwidth": 3e10, "host_sync": 0}


def rank(model="deepseek-v3", precision="bf16", **changed):
    """Return every quantity of one rank that serves a model."""
    entry = catalogue.load_model(model)
    inputs = {**catalogue.load_scenario("s0-scenario-1").inputs(), **catalogue.model_inputs(entry),
              **catalogue.precision_inputs(catalogue.load_precision(precision)),
              "data_parallel": 1, "concurrency": 1, **changed}
    return evaluate_all(select(FORMULAS, entry.attention), inputs)


@pytest.mark.parametrize("first", [0, *(pytest.param(each, marks=pytest.mark.nightly)
                                        for each in range(1, 8))])
def test_stored_formulas_are_canonical_and_have_the_unit_of_their_symbol(first):
    for key in sorted(FORMULAS)[first::8]:
        formula = FORMULAS[key]
        expr = from_tree(formula.tree)
        assert to_tree(expr) == formula.tree, key
        assert formula.unit == catalogue.symbols()[formula.name].unit, key
        check_dimensions(formula.name, formula.tree)


def test_stored_formulas_are_ordered_and_belong_to_a_notebook_that_derives_them():
    for attention in VARIANTS:
        chosen = select(FORMULAS, attention)
        assert sorted(order(chosen)) == sorted(chosen)
        assert stagewise(chosen) == {name for name in chosen if name.startswith("stage_")}
    assert {formula.notebook for formula in FORMULAS.values()} == {
        path.stem for path in lock.derivations()}


@pytest.mark.parametrize(("name", "expected", "digits"), [
    ("total_parameters", 671_026_419_200, 0),
    ("active_parameters", 36.63e9, 7),
    ("active_parameters_with_embedding", 37.55e9, 7),
    ("routed_parameters", 653.9e9, 8),
    ("kv_bytes_per_token", 70_272, 0),
    ("weights_per_device", 169.56e9, 7),
    ("replicated_weights_per_device", 2.06e9, 7),
])
def test_published_numbers_of_deepseek_v3(name, expected, digits):
    assert abs(rank()[name] - expected) <= (0.5 * 10**digits if digits else 0)


def test_published_numbers_of_other_models():
    llama = rank("llama-3.1-70b")
    assert llama["total_parameters"] == 70_553_706_496
    assert llama["active_parameters_with_embedding"] == llama["total_parameters"]
    assert llama["kv_bytes_per_token"] == 327_680
    latent = catalogue.load_format("fp8-latent128").bytes_per_element
    assert rank(kv_cache_element_bytes=latent)["kv_layer_bytes_per_token"] == 656


@pytest.mark.parametrize(("context", "latents"), [(1, 1), (2048, 2048), (2049, 2048),
                                                  (131_072, 2048)])
def test_sparse_attention_reads_selected_latents_and_every_index_key(context, latents):
    values = rank("deepseek-v3.2", input_tokens=context - 1, output_tokens=1)
    assert values["decode_kv_bytes"] == 61 * 2 * (latents * 576 + context * 128)


@pytest.mark.parametrize(("context", "seen"), [(1, 1), (128, 128), (129, 128), (131_072, 128)])
def test_windowed_layers_read_their_window(context, seen):
    values = rank("gpt-oss-120b", input_tokens=context - 1, output_tokens=1, tensor_parallel=1)
    assert values["decode_kv_bytes"] == 18 * (context + seen) * 2 * 8 * 64 * 2


def test_window_filled_during_decoding_is_averaged_over_tokens():
    values = rank("gpt-oss-120b", input_tokens=126, output_tokens=4)
    assert values["decode_window_tokens"] == (127 + 128 + 128 + 128) / 4
    assert values["decode_attended_tokens"] == values["decode_context_tokens"] == 128.5


def test_distinct_experts_between_top_k_and_all():
    expr = from_tree(FORMULAS["distinct_experts"].tree)
    chosen, count = sym.num_experts_per_tok, sym.n_routed_experts
    routed = expr.args[1][0]
    assert sympy.simplify(routed.subs(sym.expert_group_tokens, 1)) == chosen
    tokens = sympy.Symbol("tokens", positive=True)
    many = routed.subs({chosen: 8, count: 256}).subs(sym.expert_group_tokens, tokens)
    assert sympy.limit(many, tokens, sympy.oo) == 256
    assert expr.subs(count, 0) == 0


@pytest.mark.parametrize("requests", [1, 7, 64, 500])
def test_token_time_floor_is_the_sum_of_its_reads(requests):
    values = rank(concurrency=requests)
    assert 8 <= values["distinct_experts"] <= min(256, 8 * requests) + 1e-9
    times = [values[f"decode_{part}_time"] for part in ("dense", "expert", "kv")]
    assert values["tpot_floor"] * values["tokens_per_step"] == pytest.approx(sum(times), rel=1e-9)


@pytest.mark.parametrize("ranks", [1, 2, 16, 128])
def test_tensor_parallel_ranks_hold_every_parameter_once_and_their_copies(ranks):
    values = rank(tensor_parallel=ranks)
    copies = values["replicated_weights_per_device"]
    divided = values["weights_per_device"] - copies
    assert ranks * divided + copies == pytest.approx(2 * values["total_parameters"], rel=1e-12)


STAGES = ("stage_first_layer", "stage_layers", "moe_layers", "stage_bare_layers",
          "stage_dense_layers")


@given(st.integers(1, 120), st.integers(1, 120), st.integers(0, 120))
@settings(max_examples=40, deadline=None)
def test_layers_without_a_network_are_spread_over_the_stages(layers, stages, bare):
    """A stage has its part of them, rounded down; the others have a dense network each."""
    stages, bare = min(stages, layers), min(bare, layers)
    inputs = {"num_hidden_layers": layers, "pipeline_parallel": stages,
              "first_k_dense_replace": layers - bare, "layers_without_mlp": bare}
    formulas = {name: FORMULAS[name] for name in STAGES}
    found = [evaluate_all(formulas, inputs, stage) for stage in range(stages)]
    for values in found:
        own = values["stage_layers"]
        assert values["stage_bare_layers"] == own * bare // layers
        assert values["stage_dense_layers"] == own - values["stage_bare_layers"]
    assert sum(values["stage_bare_layers"] for values in found) <= bare


@given(st.integers(1, 120), st.integers(1, 120), st.integers(0, 120))
@settings(max_examples=40, deadline=None)
def test_pipeline_stages_partition_the_layers(layers, stages, dense):
    stages, dense = min(stages, layers), min(dense, layers)
    formulas = {name: FORMULAS[name] for name in STAGES}
    inputs = {"num_hidden_layers": layers, "pipeline_parallel": stages,
              "first_k_dense_replace": dense, "layers_without_mlp": 0}
    first = 0
    for values in (evaluate_all(formulas, inputs, stage) for stage in range(stages)):
        assert values["stage_first_layer"] == first
        after = first + values["stage_layers"]
        assert values["stage_dense_layers"] == len(range(first, min(dense, after)))
        first = after
    assert first == layers


@pytest.mark.parametrize("host", [1e11, 1e12, 1e13])
def test_perfect_overlap_leaves_the_longer_of_host_and_card(host):
    values = rank(**ON_HOST | {"host_memory_bandwidth": host})
    on_host = 2 * values["decode_offload_time"]
    longer = max(values["decode_compute_time"], values["decode_communication_time"])
    assert values["decode_device_time"] == pytest.approx(max(on_host, longer - on_host), rel=1e-12)


@pytest.mark.parametrize(("share", "sent"), [(1, 1), (0.5, 255 / 256), (1 / 256, 0.0308)])
def test_tokens_travel_to_the_host_if_any_of_their_experts_is_there(share, sent):
    fast = {"host_peak": 1e30, "host_memory_bandwidth": 1e30, "offloaded_share": share}
    transferred = rank(**ON_HOST | fast)["decode_offload_time"] * 3e10
    assert transferred == pytest.approx(sent * 2 * 58 * 32 * 7168 * 2, rel=2e-3)


@pytest.mark.parametrize(("ranks", "copies"), [
    (8, 7 / 8 * 8 * (1 - (7 / 8) ** 8)), (64, 7 / 8 * 64 * (1 - (63 / 64) ** 8))])
def test_normal_dispatch_sends_a_token_once_to_each_rank(ranks, copies):
    values = rank(tensor_parallel=1, data_parallel=ranks, expert_parallel=ranks, concurrency=ranks,
                  devices_per_node=8, full_mesh=0, device_link_bandwidth=1e11,
                  exchange_efficiency=1, network_bandwidth=1e30, exchange_normal=1,
                  exchange_alpha=0, dispatch_element_bytes=1, n_group=1, even_routing=1,
                  topk_group=1)
    assert values["decode_exchange_time"] == pytest.approx(58 * 7168 * 3 * copies / 1e11, rel=1e-12)


def test_stages_of_a_pool_transfer_their_caches_in_parallel():
    one, two, all_of_them = (rank(pipeline_parallel=stages, network_alpha=1e-5)[
        "kv_transfer_time"] - 1e-5 for stages in (1, 2, 61))
    assert two == pytest.approx(one * 31 / 61)
    assert all_of_them == pytest.approx(one / 61)


def test_expanded_prefix_positions_fill_their_tiles():
    chunk = {"input_tokens": 4097, "prefix_hit_share": 4096 / 4097, "load_overlap": 1,
             "memory_bandwidth": 1e30, "gemm_tile_rows": 64, "tensor_parallel": 1}
    padded, exact = (rank(**chunk | {"gemm_tile_rows": rows})["prefill_attention_time"]
                     for rows in (64, 1))
    expanded = 4096 * 512 * 128 * 256  # cached positions x weights that expand one
    projections = 187_105_280  # weights of a layer
    assert padded / exact == pytest.approx(
        (64 * projections + expanded) / (projections + expanded), rel=1e-3)
