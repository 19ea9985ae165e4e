"""A deployment as plain numbers: what entries do not say, and what follows from what they say."""

from dataclasses import replace

import pytest

import catalogue
from catalogue.deployments.resolved import leaves_replica
from catalogue.deployments.scenario import (
    FIRST,
    FURTHER,
    device_inputs,
    model_inputs,
    precision_inputs,
    unasked,
)
from catalogue.entries.models import GROUPS
from catalogue.entries.profiles import WAYS
from catalogue.reading.values import Value

BASE = catalogue.load_scenario("h200-r1-vllm-tp8")
V3 = catalogue.load_model("deepseek-v3")


def number(value, low=None, high=None):
    return Value(value, "1", str(value), "arithmetic", "assumed",
                 value if low is None else low, value if high is None else high)


def counts(model="deepseek-v3", **changed):
    """Inputs of a model with other counts."""
    made = {name: number(value) if type(value) is int else value
            for name, value in changed.items()}
    return model_inputs(catalogue.load_model(model).model_copy(update=made))


@pytest.mark.parametrize(("model", "changed", "name", "value"), [
    ("deepseek-v3", {"num_hidden_layers": 7}, "num_hidden_layers", 7),
    ("deepseek-v3", {"first_k_dense_replace": 3}, "first_k_dense_replace", 3),
    ("qwen3-8b", {"num_hidden_layers": 7}, "first_k_dense_replace", 7),  # dense throughout
    ("qwen3-8b", {"num_hidden_layers": 7}, "full_attention_layers", 7),
    ("qwen3-8b", {"num_hidden_layers": 7, "linear_layers": 2}, "full_attention_layers", 5),
    ("qwen3-8b", {"num_hidden_layers": 7, "sliding_window": 64, "full_attention_layers": 3},
     "full_attention_layers", 3),
    ("qwen3-8b", {"num_hidden_layers": 7, "sliding_window": 64, "full_attention_layers": 3,
                  "attention": "csa"}, "full_attention_layers", 7),
    ("qwen3-8b", {"num_hidden_layers": 7}, "sparse_layers", 7),
    ("qwen3-8b", {"num_hidden_layers": 7, "sparse_layers": 2}, "sparse_layers", 2),
    ("qwen3-8b", {"num_hidden_layers": 7, "linear_layers": 3}, "sparse_layers", 4),
    ("qwen3-8b", {"num_hidden_layers": 7}, "indexer_layers", 0),
    ("qwen3-8b", {"num_hidden_layers": 7, "index_topk": 9}, "indexer_layers", 7),
    ("qwen3-8b", {"num_hidden_layers": 7, "index_topk": 9, "indexer_layers": 2},
     "indexer_layers", 2),
    ("deepseek-v3", {"hidden_size": 70}, "routed_expert_hidden_size", 70),
    ("deepseek-v3", {"hidden_size": 70, "routed_expert_hidden_size": 50},
     "routed_expert_hidden_size", 50),
    ("deepseek-v3", {"hc_mult": 4}, "hc_mult", 4), ("deepseek-v3", {"hc_mult": None}, "hc_mult", 1),
    ("qwen3-8b", {}, "compress_ratio", 1), ("qwen3-8b", {}, GROUPS[0], 1),
    ("deepseek-v3", {GROUPS[0]: 5}, GROUPS[0], 5), ("qwen3-8b", {}, "n_routed_experts", 0),
    ("deepseek-v3", {"tie_word_embeddings": True}, "separate_head", 0),
    ("deepseek-v3", {"tie_word_embeddings": False}, "separate_head", 1),
    ("deepseek-v3", {"qk_norm": True}, "qk_norm", 1), ("deepseek-v3", {"qk_norm": False},
                                                       "qk_norm", 0),
])
def test_what_a_kind_of_model_lacks_is_zero_or_as_one_without_it(model, changed, name, value):
    assert counts(model, **changed)[name] == value


def test_a_window_beside_sparse_layers_leaves_them_to_the_layers_of_whole_attention():
    windowed = counts("qwen3-8b", num_hidden_layers=7, sliding_window=64, full_attention_layers=3)
    assert (windowed["sparse_layers"], windowed["sliding_window"]) == (3, 64)


def test_what_is_not_said_of_a_precision_is_as_wide_as_what_it_stands_beside():
    entry = catalogue.load_precision("fp8-block")
    made = entry.model_copy(update={
        "kv_cache": "int8", "kv_rope": "bf16", "kv_index": None, "state": None,
        "activation": "bf16", "logit": "fp32",
        "weights": entry.weights.model_copy(update={"compressor": None, "hyper": None})})
    one = precision_inputs(made)
    assert {name: one[name] for name in (
        "kv_cache_element_bytes", "kv_index_element_bytes", "kv_rope_element_bytes",
        "state_element_bytes", "compressor_weight_bytes", "hyper_weight_bytes",
        "activation_element_bytes", "logit_element_bytes", "norm_weight_bytes")} == {
            "kv_cache_element_bytes": 1, "kv_index_element_bytes": 1, "kv_rope_element_bytes": 2,
            "state_element_bytes": 4, "compressor_weight_bytes": 2, "hyper_weight_bytes": 4,
            "activation_element_bytes": 2, "logit_element_bytes": 4, "norm_weight_bytes": 2}
    stated = made.model_copy(update={
        "kv_index": "fp32", "state": "bf16",
        "weights": made.weights.model_copy(update={"compressor": "fp32", "hyper": "bf16"})})
    one = precision_inputs(stated)
    assert [one[name] for name in ("kv_index_element_bytes", "state_element_bytes",
                                   "compressor_weight_bytes", "hyper_weight_bytes")] == [4, 2, 4, 2]


def test_the_system_of_a_card_keeps_nothing_unless_stated():
    card = BASE.device
    assert device_inputs(card.model_copy(update={"system_reserve": None}))["system_reserve"] == 0
    kept = device_inputs(card.model_copy(update={"system_reserve": number(7)}))
    assert (kept["system_reserve"], kept["memory_capacity"]) == (7, card.memory_capacity.value)


@pytest.mark.parametrize(("separate", "output", "found"), [
    (1, 100, FIRST), (1, 1, FIRST), (0, 1, FURTHER), (0, 2, ()), (0, 0, FURTHER)])
def test_a_run_that_ends_with_its_first_token_has_no_time_per_token(separate, output, found):
    assert unasked({"separate_pools": separate, "output_tokens": output}) == frozenset(found)


@pytest.mark.parametrize(("tensor", "expert", "slices", "leaves"), [
    (8, 8, 0, False), (8, 16, 0, True), (8, 8, 1, False), (8, 8, 2, True), (1, 1, 8, True),
    (8, 1, 8, False), (8, 4, 3, True), (1, 1, 0, False)])
def test_tokens_leave_a_replica_where_more_ranks_share_experts_than_it_has(
        tensor, expert, slices, leaves):
    assert leaves_replica(tensor, expert, slices) == leaves


def deployment(stated=(), **spread):
    """The same deployment with switches and another cut."""
    cut = {name: value if value is None else number(value) for name, value in spread.items()}
    return replace(BASE, file=BASE.file.model_copy(update={
        "mechanisms": {name: number(value) for name, value in dict(stated).items()},
        "parallelism": BASE.file.parallelism.model_copy(update=cut)}))


@pytest.mark.parametrize(("stated", "cut", "way"), [
    ({}, {"tensor_parallel": 8, "expert_parallel": 8}, "gathered"),
    ({}, {"tensor_parallel": 8, "expert_parallel": 16}, "low_latency"),
    ({"exchange_normal": 0}, {"tensor_parallel": 8, "expert_parallel": 16}, "low_latency"),
    ({"exchange_normal": 1}, {"tensor_parallel": 8, "expert_parallel": 16}, "normal"),
    ({"exchange_normal": 1, "exchange_gathered": 1},
     {"tensor_parallel": 8, "expert_parallel": 16}, "gathered"),
    ({"exchange_gathered": 0}, {"tensor_parallel": 8, "expert_parallel": 16}, "low_latency"),
    ({"exchange_normal": 1}, {"tensor_parallel": 8, "expert_parallel": 8}, "gathered"),
    ({}, {"tensor_parallel": 1, "expert_parallel": 1, "expert_tensor_parallel": 8}, "low_latency"),
    ({}, {"tensor_parallel": 8, "expert_parallel": 1, "expert_tensor_parallel": 8}, "gathered"),
    ({}, {"tensor_parallel": 8, "expert_parallel": 8, "expert_tensor_parallel": None}, "gathered"),
])
def test_ranks_have_all_tokens_or_are_sent_them_in_one_mode(stated, cut, way):
    one = replace(deployment(stated, **cut), by_engine={
        each: {"host_sync": number(place)} for place, each in enumerate(WAYS)})
    assert one.way == way
    assert one.given["host_sync"].value == WAYS.index(way)
    assert one.mechanisms["host_sync"].value == WAYS.index(way)
    assert replace(one, by_engine={}).given == {}


def test_drafts_are_right_as_often_as_in_the_text_that_is_stated():
    table = catalogue.load("acceptances", BASE.model.draft_acceptance or "next-token-layer")
    assert BASE.acceptance == {"mtp_acceptance": table.any, "acceptance_decay": table.decay}
    told = replace(BASE, file=BASE.file.model_copy(update={
        "workload": BASE.file.workload.model_copy(update={"text": "code"})}))
    assert told.acceptance == {"mtp_acceptance": table.code, "acceptance_decay": table.decay}


@pytest.mark.parametrize(("devices", "nodes", "found"), [(None, 3, 24), (5, 3, 5), (5, 1, 5)])
def test_a_deployment_has_the_devices_of_its_servers_or_those_stated(devices, nodes, found):
    cluster = BASE.file.cluster.model_copy(update={
        "nodes": number(nodes), "devices": devices and number(devices)})
    assert replace(BASE, file=BASE.file.model_copy(update={"cluster": cluster})).devices == found


@pytest.mark.parametrize(("english", "chinese", "joined"), [
    ("Plan B", "方案乙", "全族：方案乙"), ("32 cards", "32 卡", "全族 32 卡")])
def test_a_variant_outside_of_its_family_is_called_by_both_titles(english, chinese, joined):
    title = {"en": english, "zh": chinese}
    one = replace(BASE, file=BASE.file.model_copy(update={"title": title}))
    assert one.heading == title
    within = replace(one, family={"en": "All", "zh": "全族"})
    assert within.heading == {"en": f"All: {english}", "zh": joined}


def test_a_deployment_of_a_longest_context_alone_decodes_one_token_from_its_end():
    one = catalogue.load_scenario("s0-scenario-1")
    longest = one.file.workload.context_tokens.value
    inputs = one.inputs()
    assert (inputs["input_tokens"], inputs["output_tokens"]) == (longest - 1, 1)
    assert (inputs["separate_pools"], inputs["context_tokens"]) == (1, longest)
    assert "prompt_variation" not in one.stated()
    inputs["input_tokens"] = 7  # a copy: what is changed in it changes nothing
    assert one.inputs()["input_tokens"] == longest - 1


def test_only_what_is_known_within_a_range_is_a_knob():
    every, ranged = BASE.every_knob(), BASE.knobs()
    assert {knob.name for knob in every} > {knob.name for knob in ranged}
    assert all(knob.value.low < knob.value.high for knob in ranged)
    assert [knob for knob in every if knob.value.low < knob.value.high] == ranged
    plain = {knob.name for knob in every} - {knob.name for knob in BASE.mechanism_knobs}
    assert plain == set(BASE.values()) - {knob.name for knob in BASE.mechanism_knobs}


def test_what_is_no_input_of_a_formula_is_not_among_those_stated():
    stated = BASE.stated()
    assert stated["tensor_parallel"] == 8
    assert not {"requests", "arrivals", "balancing", "length_distribution"} & set(stated)
    assert set(stated) <= set(BASE.values())
    assert BASE.replicas == BASE.file.parallelism.data_parallel.value


def test_in_another_precision_an_engine_reaches_what_its_kernels_do_in_that():
    wide = catalogue.load_precision("bf16")
    other = BASE.in_precision(wide)
    loaded = catalogue.load_scenario(BASE.id, overrides=["precision=bf16"])
    assert (other.precision, other.engine) == (wide, BASE.engine)
    assert other.by_engine == loaded.by_engine
    assert other.by_engine != BASE.by_engine
    unnamed = replace(BASE, running=None, by_engine={})
    assert unnamed.in_precision(wide).precision == wide
    assert unnamed.in_precision(wide).running is None
    assert unnamed.engine is None


def test_an_engine_that_drafts_still_drafts_in_another_precision():
    drafting = catalogue.load_scenario("h200-r1-sglang-mtp")
    assert drafting.file.workload.draft_tokens
    assert drafting.in_precision(drafting.precision).by_engine == drafting.by_engine
