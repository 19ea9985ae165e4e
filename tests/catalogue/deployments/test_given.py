"""Which mechanisms a deployment has, and of several statements of one which holds."""

import math
from dataclasses import replace

import pytest

import catalogue
from catalogue.deployments.physics_inputs import knobs, peak_problem, physics_inputs
from catalogue.entries.mechanisms import ShareByCache
from catalogue.entries.profiles import WAYS
from catalogue.reading.values import Value

BASE = catalogue.load_scenario("h200-r1-vllm-tp8")  # MLA, experts in slices, FP8
CARD = catalogue.load("mechanisms", BASE.device.mechanisms)
HOST = catalogue.load_scenario("kt-4090d-v02")  # two processors compute all experts


def number(value):
    return Value(value, "1", str(value), "arithmetic", "assumed", value, value)


def numbers(**values):
    return {name.replace("__", "."): number(value) for name, value in values.items()}


def deployment(base=BASE, stated=None, given=None, model=None, spread=None, offload=None, **file):
    """A shipped deployment with other statements of its own, its engine, its model, its cut."""
    changed = {"mechanisms": base.file.mechanisms if stated is None else stated,
               "parallelism": base.file.parallelism.model_copy(update=spread or {}), **file}
    if offload:
        changed["offload"] = base.file.offload.model_copy(update=offload)
    return replace(base, file=base.file.model_copy(update=changed),
                   by_engine=dict.fromkeys(WAYS, given or {}),
                   model=base.model.model_copy(update=model or {}))


def found(*args, **changes):
    return {knob.name: knob for knob in knobs(deployment(*args, **changes))}


def inputs(*args, **changes):
    one = deployment(*args, **changes)
    return physics_inputs(one, tuple(knobs(one)))


def test_what_a_deployment_states_holds_before_its_engine_and_that_before_its_card():
    for stated, given, value in (
            ({}, {}, CARD.host_gap_per_step.value), ({}, {"host_gap_per_step": 3}, 3),
            ({"host_gap_per_step": 5}, {"host_gap_per_step": 3}, 5),
            ({"host_gap_per_step": 5}, {}, 5)):
        one = found(stated=numbers(**stated), given=numbers(**given))["host_gap_per_step"]
        assert (one.value.value, one.symbols) == (value, ("host_gap_per_step",))


def test_what_is_stated_of_all_matmuls_holds_of_experts_before_what_their_engine_does():
    one = found(stated=numbers(gemm_tile_rows=3, routed_expert_latency=5),
                given=numbers(expert_tile_rows=7, sliced_expert_latency=11))
    assert one["expert_tile_rows"].value.value == 3
    assert one["sliced_expert_latency"].value.value == 5
    own = found(stated=numbers(gemm_tile_rows=3, expert_tile_rows=2))
    assert (own["gemm_tile_rows"].value.value, own["expert_tile_rows"].value.value) == (3, 2)
    of_dtype = found(stated=numbers(grouped_gemm_efficiency__fp8=0.3))
    assert of_dtype["sliced_gemm_efficiency.fp8"].value.value == 0.3
    assert found()["expert_tile_rows"].value == CARD.expert_tile_rows or CARD.gemm_tile_rows


def test_collectives_of_a_kind_take_what_any_does_until_more_is_known_of_them():
    plain = found(given={})["collective_alpha"]
    assert set(plain.symbols) >= {"collective_alpha"}
    known = found(given=numbers(gather_alpha=3, second_round_alpha=5))
    assert known["collective_alpha"].symbols == ("collective_alpha",)
    assert (known["gather_alpha"].value.value, known["second_round_alpha"].value.value) == (3, 5)
    if CARD.gather_alpha is None and CARD.second_round_alpha is None:
        assert plain.symbols == ("collective_alpha", "second_round_alpha", "gather_alpha")
    one = found(base=catalogue.load_scenario("s2-910b1-awq"))
    ascend = catalogue.load("mechanisms", "ascend-910b")
    for name, of in (("gather_efficiency", "collective_efficiency"),
                     ("gather_alpha", "collective_alpha")):
        assert (name in one[of].symbols) == (getattr(ascend, name) is None)


def test_no_two_knobs_move_one_input():
    for name in ("h200-v32-sglang-dp8", "h20-qwen3-8b", "h200-v4-sglang-dp4", "kt-4090d-v02"):
        symbols = [symbol for knob in catalogue.load_scenario(name).mechanism_knobs
                   for symbol in knob.symbols]
        assert len(symbols) == len(set(symbols)), name


COUNT = number(4)


@pytest.mark.parametrize(("mechanism", "has", "lacks"), [
    ("kv_imbalance", {"spread": {"data_parallel": number(2)}}, {}),
    ("kv_imbalance", {"spread": {"data_parallel": number(2)}, "stated": numbers(separate_pools=0)},
     {"spread": {"data_parallel": number(2)}, "stated": numbers(separate_pools=1)}),
    ("placement_residual", {"spread": {"balancing": "periodic"}},
     {"spread": {"balancing": "ideal"}}),
    ("absorbed_copies", {}, {"model": {"attention": "gqa"}}),
    ("latent_core_latency", {"given": numbers(latent_core_latency=3)},
     {"given": numbers(latent_core_latency=3), "model": {"attention": "gqa"}}),
    ("latent_core_latency", {"given": numbers(latent_core_latency=3),
                             "model": {"attention": "csa"}},
     {"given": numbers(latent_core_latency=3), "model": {"attention": "gqa"}}),
    ("latent_core_fill", {"given": numbers(latent_core_fill=3)},
     {"given": numbers(latent_core_fill=3), "model": {"attention": "csa"}}),
    ("latent_core_fill", {"given": numbers(latent_core_fill=3)},
     {"given": numbers(latent_core_fill=3), "model": {"attention": "gqa"}}),
    ("hyper_operators", {"given": numbers(hyper_operators=3), "model": {"hc_mult": COUNT}},
     {"given": numbers(hyper_operators=3)}),
    ("linear_chunk_tokens", {"given": numbers(linear_chunk_tokens=3),
                             "model": {"linear_layers": COUNT}},
     {"given": numbers(linear_chunk_tokens=3)}),
    ("state_blocks", {"given": numbers(state_blocks=3), "model": {"attention": "csa"}},
     {"given": numbers(state_blocks=3)}),
    ("sparse_core_fill", {"given": numbers(sparse_core_fill=3), "model": {"attention": "csa"}},
     {"given": numbers(sparse_core_fill=3)}),
    ("index_efficiency", {"model": {"index_topk": COUNT}}, {}),
    ("selection_traffic", {"model": {"index_topk": COUNT}}, {}),
    ("sparse_attention_efficiency", {"model": {"index_topk": COUNT}}, {}),
    ("exchange_buffer_tokens", {}, {"stated": numbers(exchange_gathered=1)}),
    ("exchange_buffer_tokens", {"stated": numbers(exchange_gathered=0)},
     {"base": catalogue.load_scenario("h20-qwen3-8b")}),
    ("score_traffic", {"given": numbers(score_traffic=3)}, {"given": {}}),
    ("exchange_token_time", {"given": numbers(exchange_token_time=3)}, {}),
])
def test_a_deployment_has_the_mechanisms_of_what_it_has(mechanism, has, lacks):
    with_it = {"stated": {}} | has
    if mechanism == "exchange_token_time":
        inside = CARD.all_to_all.low_latency.node.token_time
        assert (mechanism in found(stated={})) == (inside is not None)
    else:
        assert mechanism not in found(**({"stated": {}} | lacks))
    assert mechanism in found(**with_it)


def test_an_exchange_has_the_mechanisms_of_its_mode():
    modes = CARD.all_to_all
    for stated, levels in (({}, modes.low_latency), ({"exchange_normal": 1}, modes.normal),
                           ({"exchange_normal": 0}, modes.low_latency)):
        one = found(stated=numbers(**stated))
        assert one["exchange_alpha"].value == levels.node.alpha
        assert one["exchange_efficiency"].value == levels.node.efficiency
        assert one["exchange_network_efficiency"].value == levels.network.efficiency
        assert one["exchange_buffer_tokens"].value == levels.buffer_tokens


@pytest.mark.parametrize(("cached", "share"), [
    ("bf16", "wide"), ("fp8", "narrow"), ("fp8-latent128", "narrow")])
def test_sparse_attention_reads_narrow_elements_below_16_bits(cached, share):
    one = deployment(model={"index_topk": COUNT})
    one = replace(one, precision=one.precision.model_copy(update={"kv_cache": cached}))
    table: ShareByCache = CARD.sparse_attention_efficiency
    knob = next(each for each in knobs(one) if each.name == "sparse_attention_efficiency")
    assert knob.value == getattr(table, share)


@pytest.mark.parametrize(("changes", "bytes_"), [
    ({}, 1.03125),  # FP8 with a scale of 32 bits per 128 elements
    ({"stated": numbers(exchange_gathered=1)}, 2), ({"stated": numbers(exchange_gathered=0)},
                                                   1.03125)])
def test_tokens_are_narrowed_before_they_are_sent_and_not_where_they_are_gathered(changes, bytes_):
    assert inputs(**changes)["dispatch_element_bytes"] == bytes_
    wide = replace(BASE, precision=catalogue.load_precision("bf16"))
    assert inputs(base=wide, **changes)["dispatch_element_bytes"] == 2


def test_operators_are_those_of_the_attention_and_of_the_layer_that_all_are_a_share_of():
    counted, one = CARD.operators, inputs()
    parts = [counted.latent_attention.value, counted.routed_experts.value,
             counted.shared_expert.value]
    assert one["reference_operators"] == sum(parts)
    assert [one[f"{name}_operators"] for name in (
        "attention", "routed_expert", "shared_expert", "indexer", "dense_mlp")] == [
            *parts, counted.indexer.value, counted.dense_mlp.value]
    grouped = inputs(model={"attention": "gqa"})
    assert grouped["attention_operators"] == counted.grouped_attention.value
    assert grouped["reference_operators"] == sum(parts)


@pytest.mark.parametrize(("changes", "name", "value"), [
    ({"graphs": True}, "captured", 1), ({"graphs": False}, "captured", 0),
    ({"graphs": None}, "captured", 0), ({"scheduling": "mixed"}, "mixed_steps", 1),
    ({"scheduling": "prefill-first"}, "mixed_steps", 0),
    ({"spread": {"balancing": "periodic"}}, "balanced_placement", 1),
    ({"spread": {"balancing": "ideal"}}, "balanced_placement", 0),
    ({"spread": {"balancing": "ideal"}}, "even_routing", 1),
    ({"spread": {"balancing": "none"}}, "even_routing", 0),
    ({"stated": numbers(exchange_normal=1)}, "exchange_normal", 1),
    ({"prefill_coordination": "delay", "prefill_delay_steps": None}, "prefill_delay_steps", 30),
    ({"prefill_coordination": "delay", "prefill_delay_steps": number(7)}, "prefill_delay_steps", 7),
    ({"prefill_coordination": "eager", "prefill_delay_steps": number(7)}, "prefill_delay_steps", 0),
])
def test_what_an_engine_does_is_a_number(changes, name, value):
    assert inputs(**changes)[name] == value


def worked(**changed):
    return inputs(workload=BASE.file.workload.model_copy(update=changed))


def test_what_a_workload_states_is_a_number():
    one = worked(requests=number(70), draft_tokens=number(3), accepted_length=number(2.5))
    assert [one[name] for name in ("bench_requests", "draft_tokens", "accepted_length")] == [
        70, 3, 2.5]
    none = worked(requests=None, draft_tokens=None, accepted_length=None, acceptance=None)
    assert "bench_requests" not in none or none["bench_requests"] != 70
    assert worked(arrivals="poisson")["open_arrivals"] == 1
    assert worked(arrivals="burst")["open_arrivals"] == 0


@pytest.mark.parametrize(("distribution", "variation", "both"), [
    ("exponential", None, 1), ("constant", None, 0), (None, None, 0),
    ("lognormal", number(0.3), 0.3)])
def test_lengths_deviate_as_their_distribution_does(distribution, variation, both):
    stated = {"length_distribution": distribution, "length_variation": variation}
    one = worked(**stated)
    assert (one["prompt_variation"], one["answer_variation"]) == (both, both)
    listed = replace(deployment(workload=BASE.file.workload.model_copy(update=stated)),
                     variations=(0.3, 0.7))
    one = physics_inputs(listed, ())
    assert (one["prompt_variation"], one["answer_variation"]) == (0.3, 0.7)


def test_weights_are_multiplied_at_the_peak_of_their_dtype_and_from_l2_if_it_is_known():
    one, peaks = inputs(), BASE.device.matrix_peak
    assert {one[f"{name}_peak"] for name in (
        "attention", "dense_mlp", "shared_expert", "routed_expert", "index")} == {peaks.fp8.value}
    assert {one[f"{name}_peak"] for name in ("core", "router", "head")} == {peaks.bf16.value}
    assert one["multiply_add_flops"] == 2
    for stated, bandwidth in ((number(7), 7), (None, BASE.device.memory_bandwidth.value)):
        card = BASE.device.model_copy(update={"l2_bandwidth": stated})
        assert inputs(base=replace(BASE, device=card))["l2_bandwidth"] == bandwidth


def offloaded(**changes):
    return inputs(base=HOST, offload=changes)


def test_experts_on_a_host_are_computed_by_all_its_processors():
    one, host = offloaded(hosts=number(3), routed_experts=number(0.75), group_tokens=number(11)), \
        HOST.host
    assert one["host_peak"] == 3 * host.vector_peak.int8.value
    assert one["host_memory_bandwidth"] == 3 * host.memory_bandwidth.value
    assert (one["offloaded_share"], one["fetched_share"], one["stored_share"]) == (0.75, 0, 0)
    assert one["host_group_tokens"] == 11
    assert offloaded(group_tokens=None)["host_group_tokens"] == 0
    stored = catalogue.load("formats", HOST.file.offload.format)
    assert one["offloaded_weight_bytes"] == stored.bytes_per_element
    priors = catalogue.load("mechanisms", host.mechanisms)
    assert one["host_stream_efficiency"] == priors.host_stream_efficiency.value
    assert one["host_sync"] == priors.host_sync.value
    assert "device_hit_share" not in found(base=HOST)


@pytest.mark.parametrize("speed", [None, number(7)])
def test_a_host_is_reached_over_the_usual_link_unless_the_card_says_otherwise(speed):
    card = HOST.device.model_copy(update={"host_bandwidth": speed})
    usual = catalogue.load_link("pcie-4-x16").device_bandwidth.value
    assert inputs(base=replace(HOST, device=card))["host_link_bandwidth"] == (
        speed.value if speed else usual)


def test_experts_that_are_fetched_are_found_by_their_share_or_as_the_most_popular_are():
    changes = {"fetched": True, "routed_experts": number(0.8), "group_tokens": None,
               "on_storage": number(0.2)}
    one, has = offloaded(**changes), found(base=HOST, offload=changes)
    assert (one["offloaded_share"], one["fetched_share"], one["stored_share"]) == (0, 0.8, 0.25)
    for name, kept in (("device_hit_share", 0.2), ("host_hit_share", 0.75)):
        value = has[name].value
        assert (value.value, value.low) == pytest.approx((kept, kept))
        assert value.high == pytest.approx(kept * (1 - math.log(kept)))
        assert (value.unit, value.kind, value.written) == ("1", "assumed", f"{kept:g}")
    drive = catalogue.load_link("nvme-gen4").device_bandwidth
    assert has["storage_bandwidth"].value == drive
    assert {"host_stream_efficiency", "host_link_efficiency"} <= set(has)
    assert "host_sync" not in has
    whole = found(base=HOST, offload=changes | {"routed_experts": number(1), "on_storage": None})
    assert (whole["device_hit_share"].value.value, whole["device_hit_share"].value.high) == (0, 0)
    assert not {"host_hit_share", "storage_bandwidth"} & set(whole)


def test_a_card_or_a_host_without_the_peaks_that_it_takes_is_told_with_its_key():
    assert peak_problem(BASE) is None
    assert peak_problem(HOST) is None
    bare = BASE.device.model_copy(update={"matrix_peak": None})
    key, said = peak_problem(replace(BASE, device=bare))
    assert key == "device"
    assert said.endswith("expected bf16 or fp16 too")
    still = HOST.host.model_copy(update={"matrix_peak": None, "vector_peak": None})
    key, said = peak_problem(replace(HOST, host=still))
    assert key == "offload"
    assert said.endswith("states no peak of int8, bf16, fp16 or fp32")
    assert peak_problem(replace(deployment(HOST, offload={"fetched": True}), host=still)) is None
