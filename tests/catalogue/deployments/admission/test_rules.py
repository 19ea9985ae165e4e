"""The rules by which a deployment is loaded, each at its edge, told in both languages."""

from dataclasses import fields, replace
from types import SimpleNamespace

import pytest

import catalogue
from catalogue.deployments.admission.rules import (
    KINDS,
    LAID_OUT,
    OF_PRECISION,
    RULES,
    class_words,
    cut_of,
    dtype_problem,
    host_problem,
    kind_words,
    length_problem,
    no_kernel_problem,
    precisions,
    problems,
    staged_problem,
    subject_of,
)
from catalogue.deployments.admission.starting import draft_problem, engine_problem
from catalogue.deployments.admission.subject import Cut, Subject
from catalogue.deployments.profiles import Starts
from catalogue.kernels import kernel_problem

SUBJECT = subject_of(catalogue.load_scenario("h200-r1-vllm-tp8"))


def asked(**changed):
    for kind in ("precision", "device", "model"):
        if isinstance(changed.get(kind), str):
            changed[kind] = getattr(catalogue, f"load_{kind}")(changed[kind])
    return replace(SUBJECT, **changed)


def offload(share=1.0, fetched=False):
    return SimpleNamespace(routed_experts=SimpleNamespace(value=share), fetched=fetched)


def test_a_rule_names_what_it_looks_at_of_a_cut_and_of_a_subject():
    cuts, subjects = ({field.name for field in fields(cls)} for cls in (Cut, Subject))
    for rule in RULES:
        assert rule.kind in KINDS
        assert set(rule.of) <= cuts
        assert rule.by
        assert set(rule.by) <= subjects
        assert rule.problem(SUBJECT, Cut(8, expert=8)) is None
    assert list(dict.fromkeys(rule.kind for rule in RULES)) == list(KINDS) == list(kind_words())
    assert set(OF_PRECISION) | set(LAID_OUT) < set(KINDS)


def test_a_reason_is_told_once_and_only_if_it_is_asked_for():
    cut = Cut(7, 99, 2, 3, context=4)  # divides neither heads nor layers, and deals no cache
    assert [problem.kind for problem in problems(asked(context=1e9), cut)] == [
        "context", "division", "dealt", "blocks", "servers", "engine"]
    assert [problem.kind for problem in problems(SUBJECT, cut, ("dealt", "division"))] == [
        "division", "dealt"]
    assert list(problems(SUBJECT, cut, ())) == []


def test_what_a_card_does_not_multiply_is_told_by_dtype_and_class():
    told = dtype_problem(asked(precision="fp8-block", device="ascend-910b2"), Cut())
    assert (told.kind, told.key) == ("dtype", "precision")
    assert told.numbers == {"classes": {"fp8": [
        "attention", "dense_mlp", "shared_expert", "routed_expert"]}}
    for place, (word, between) in enumerate((("FP8 for ", ", "), ("要求 FP8", "、"))):
        said = told.text[("en", "zh")[place]]
        assert word in said
        assert between.join(class_words()[name][place] for name in told.numbers["classes"]["fp8"]
                            ) in said
        assert asked(device="ascend-910b2").device.name[("en", "zh")[place]] in said
    assert dtype_problem(asked(precision="w8a8-int8", device="ascend-910b2"), Cut()) is None


@pytest.mark.parametrize(("offloaded", "classes"), [
    (None, 4), (offload(), 3), (offload(0.99), 4), (offload(fetched=True), 4)])
def test_a_card_multiplies_experts_unless_a_host_computes_them_all(offloaded, classes):
    told = dtype_problem(asked(precision="fp8-block", device="ascend-910b2", offload=offloaded),
                         Cut())
    assert len(told.numbers["classes"]["fp8"]) == classes


@pytest.mark.parametrize(("precision", "offloaded", "experts", "found"), [
    ("q4-k-m-kt", None, 256, {"stored": "q4-k-m-expert"}), ("q4-k-m-kt", offload(), 256, None),
    ("q4-k-m-kt", None, 0, None), ("fp8-block", None, 256, None)])
def test_a_format_of_processors_has_a_processor_or_no_experts(precision, offloaded, experts, found):
    told = host_problem(asked(precision=precision, offload=offloaded,
                              numbers={"n_routed_experts": experts}), Cut())
    assert (told and told.numbers) == found
    if told:
        assert (told.kind, told.key) == ("host_format", "precision")
        assert all("q4-k-m-expert" in text for text in told.text.values())


def test_a_format_without_kernels_is_told_with_the_nearest_that_has_them():
    told = no_kernel_problem(asked(precision="w4a8-int8", engine=None), Cut())
    assert (told.kind, told.key) == ("kernel", "precision")
    assert told.text["en"].endswith("the nearest that runs here is w4afp8")
    assert "，最近的可用精度是 w4afp8" in told.text["zh"]
    assert "引擎版本" in told.text["zh"]
    named = no_kernel_problem(asked(precision="w4a8-int8", engine="vllm@0.11.0"), Cut())
    near = named.text["en"].rpartition(" ")[2]
    assert "vllm@0.11.0" in named.text["zh"]
    assert named.text["zh"].endswith(f"最近的可用精度是 {near}")
    assert kernel_problem(catalogue.load_precision(near), SUBJECT.device, "vllm@0.11.0") is None
    for unknown in ({"engine": "mine@1.0"}, {"engines_own": False}, {"precision": "fp8-block"},
                    {"device": "ascend-910b2", "precision": "fp8-block"}):  # told as a dtype
        assert no_kernel_problem(asked(**{"precision": "w4a8-int8"} | unknown), Cut()) is None


def test_requests_are_told_with_their_length_and_that_of_the_model():
    most = SUBJECT.model.max_position_embeddings.value
    told = length_problem(asked(context=most + 1), Cut())
    assert (told.kind, told.key, told.numbers) == (
        "context", "context_tokens", {"asked": most + 1, "most": most})
    assert all(f"{most + 1:,}" in text and f"{most:,}" in text for text in told.text.values())
    assert length_problem(asked(context=most), Cut()) is None
    assert length_problem(asked(context=None), Cut()) is None
    boundless = SUBJECT.model.model_copy(update={"max_position_embeddings": None})
    assert length_problem(asked(context=most + 1, model=boundless), Cut()) is None


@pytest.mark.parametrize(("cut", "refused"), [
    (Cut(4, 2, 1, 4), False), (Cut(4, 2, 2, 8), True), (Cut(4, 1, 2, 8), False),
    (Cut(4, 2, 2, 4, slices=2), True), (Cut(4, 2, 1, 4, slices=1), False),
    (Cut(4, 2, 1, 2, slices=2), False), (Cut(1, 2, 8, 1, slices=8), True)])
def test_stages_of_ranks_that_share_experts_beyond_a_replica_are_left_out(cut, refused):
    told = staged_problem(asked(staged_groups=False), cut)
    assert (told is not None) == refused
    if told:
        assert (told.kind, told.key, told.numbers) == (
            "stages", "pipeline_parallel", {"stages": cut.pipeline})
    assert staged_problem(SUBJECT, cut) is None


@pytest.mark.parametrize(("started", "reason"), [
    ([], None), ([{"wide_replicas": False}], "first"),
    ([{"wide_replicas": False}, {"wide_replicas": True}], None),
    ([{"wide_replicas": False}, {"spares": True}], "first")])
def test_a_layout_is_refused_where_every_engine_that_is_meant_refuses_it(started, reason):
    one = asked()
    one.__dict__["engines"] = tuple(
        Starts(SimpleNamespace(id=("first", "second")[place]), "1.0", starts, False)
        for place, starts in enumerate(started))
    told = engine_problem(one, Cut(8, 1, 2, 16))
    assert (told and told.text["en"].partition("@")[0]) == reason
    other = asked(engines_own=False)
    other.__dict__["engines"] = one.engines
    assert engine_problem(other, Cut(8, 1, 2, 16)) is None


@pytest.mark.parametrize(("admitted", "refused"), [(True, False), (False, True), (None, True)])
def test_drafts_in_stages_are_admitted_as_a_search_says_or_as_the_engine_does(admitted, refused):
    one = asked(engine="vllm@0.13.0", staged_drafts=admitted)  # a release that does not
    assert (draft_problem(one, Cut(4, 2, drafts=1)) is not None) == refused
    told = draft_problem(asked(engine=None, staged_drafts=False), Cut(4, 2, drafts=3))
    assert "3 drafted tokens in 2 pipeline stages: " in told.text["en"]
    assert "sglang, tensorrt-llm" in told.text["en"]
    assert "sglang、tensorrt-llm" in told.text["zh"]


def test_precisions_of_a_card_are_those_that_its_engines_run_the_nearest_first():
    every = precisions(asked(engines_own=False), SUBJECT.precision)
    run = precisions(asked(engine=None), SUBJECT.precision)
    assert every[0].id == run[0].id == SUBJECT.precision.id
    assert {entry.id for entry in run} < {entry.id for entry in every}
    assert "w4a8-int8" in {entry.id for entry in every} - {entry.id for entry in run}
    assert not any(entry.host_experts for entry in every)
    beside = precisions(asked(engines_own=False, offload=offload()), SUBJECT.precision)
    assert any(entry.host_experts for entry in beside)


def test_a_deployment_asks_for_its_longest_request_and_is_cut_as_its_file_says():
    lengths = subject_of(catalogue.load_scenario("s2-910b1-awq"))
    assert (lengths.context, lengths.engine, lengths.offload) == (128 + 512, None, None)
    assert subject_of(catalogue.load_scenario("s0-scenario-1")).context == 4096
    longer = catalogue.load_scenario("s2-910b1-awq", overrides=["workload.context_tokens=4096"])
    assert subject_of(longer).context == 4096
    switched = subject_of(catalogue.load_scenario("wide-lmsys-prefill"))
    assert switched.numbers["exchange_normal"] == 1
    assert "exchange_normal" not in SUBJECT.numbers
    degrees = {"tensor_parallel": 2, "pipeline_parallel": 3, "data_parallel": 4,
               "expert_parallel": 5, "expert_tensor_parallel": 6, "redundant_experts": 7,
               "shared_expert_ranks": 9, "decode_context_parallel": 11}
    one = catalogue.load_scenario("h200-r1-vllm-tp8", cut=False, overrides=[
        *(f"parallelism.{name}={size}" for name, size in degrees.items()),
        "workload.draft_tokens=1"])
    assert cut_of(one) == Cut(2, 3, 4, 5, 6, 7, 9, 11, 1)
    assert cut_of(catalogue.load_scenario("h200-r1-vllm-tp8")) == Cut(8)
