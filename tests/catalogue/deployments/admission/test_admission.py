"""Which deployments are loaded: engines' own rules, nodes, lengths, drafts, formats."""

import pytest

import catalogue
from catalogue.deployments.admission.notation import one_server, written
from catalogue.deployments.admission.rules import cut_of, problems, subject_of
from catalogue.deployments.admission.subject import Cut
from catalogue.deployments.loading import deployment_names

BASE = "h200-r1-vllm-tp8"


def kinds(settings, name=BASE):
    """Kinds of what keeps a deployment with settings from being loaded."""
    scenario = catalogue.load_scenario(name, overrides=settings)
    return [problem.kind for problem in problems(subject_of(scenario), cut_of(scenario))]


def cut(tensor, pipeline, data, expert, nodes=1, engine="vllm@0.13.0", **rest):
    """Overrides that cut the base so."""
    named = {"tensor": tensor, "pipeline": pipeline, "data": data, "expert": expert}
    return (f"cluster.nodes={nodes}", f"engine={engine}",
            *(f"parallelism.{name}_parallel={size}" for name, size in named.items()),
            *(f"parallelism.{name}={size}" for name, size in rest.items()))


@pytest.mark.parametrize("name", [name for name in deployment_names()
                                  if catalogue.load_scenario(name).measured])
def test_what_was_measured_is_loaded(name):
    """Somebody has started it."""
    assert kinds((), name) == []


@pytest.mark.parametrize(("settings", "found"), [
    (cut(8, 1, 1, 1), []), (cut(8, 1, 1, 8), []),
    (cut(8, 1, 1, 2), ["engine"]),  # each of two halves of the experts in four slices
    (cut(8, 1, 1, 2, engine="sglang@0.5.6.post2"), []),
    (cut(8, 1, 2, 16, 2), []), (cut(8, 1, 2, 8, 2), []),
    (cut(16, 1, 1, 16, 2), []),  # over two servers' links
    (cut(16, 1, 2, 32, 4), []), (cut(16, 1, 2, 32, 4, engine="vllm@0.11.0"), ["engine"]),
    (cut(1, 1, 8, 1, expert_tensor_parallel=8), []),
    (cut(4, 1, 2, 8, engine="tensorrt-llm@1.0.0"), ["engine"]),
    (cut(1, 1, 8, 8, engine="tensorrt-llm@1.0.0"), []),
    (cut(8, 1, 1, 8, decode_context_parallel=8), []),
    (cut(8, 1, 1, 8, engine="vllm@0.9.2", decode_context_parallel=8), ["engine"]),
    (cut(8, 1, 1, 8, engine="sglang@0.5.6.post2", decode_context_parallel=8), ["engine"]),
    (cut(8, 1, 1, 8, redundant_experts=8), []),
    (cut(8, 1, 1, 8, engine="vllm@0.8.5.post1", redundant_experts=8), ["engine"]),
])
def test_an_engine_starts_what_its_launcher_can(settings, found):
    assert kinds(settings) == found


def test_a_server_of_twelve_cards_fills_no_nodes_of_eight():
    found = kinds((*cut(4, 1, 6, 12, 3), "parallelism.redundant_experts=8"))
    assert found == ["servers"]


@pytest.mark.parametrize(("engine", "found"), [
    ("vllm@0.13.0", ["drafts"]), ("vllm@0.33.0", [])])
def test_drafts_in_stages_are_made_where_the_release_makes_them(engine, found):
    assert kinds((*cut(4, 2, 1, 4, engine=engine), "workload.draft_tokens=1")) == found


def test_requests_are_no_longer_than_the_model_knows_positions():
    assert kinds(("workload.context_tokens=163840",)) == []
    assert kinds(("workload.context_tokens=163841",)) == ["context"]


def test_a_format_of_processors_is_not_loaded_on_a_card():
    assert "host_format" in kinds(("precision=q4-k-m-kt", "engine=vllm@0.13.0"))


def test_a_dealt_cache_on_ascend_takes_the_third_generation():
    old, new = (["parallelism.decode_context_parallel=8", "engine=vllm-ascend@0.18.0",
                 f"device={card}", f"cluster.node={node}"]
                for card, node in (("ascend-910b1", "atlas-800i-a2"),
                                   ("ascend-910c-die", "atlas-800i-a3")))
    assert "engine" in kinds(old, "s2-910b1-awq")
    assert "engine" not in kinds([*new, "cluster.devices=8", "precision=w8a8-int8"],
                                 "s2-910b1-awq")


@pytest.mark.parametrize("settings", [cut(8, 1, 1, 2), cut(8, 1, 1, 8, redundant_experts=8,
                                                            engine="vllm@0.8.5.post1"),
                                      ("workload.context_tokens=200000",)])
def test_a_problem_is_told_in_both_languages_with_its_numbers(settings):
    scenario = catalogue.load_scenario(BASE, overrides=settings)
    for problem in problems(subject_of(scenario), cut_of(scenario)):
        assert problem.numbers
        assert not {"en": problem.text["en"]}.items() & {"en": problem.text["zh"]}.items()
        assert not problem.text["en"].endswith(".")
        assert not problem.text["zh"].endswith("。")


@pytest.mark.parametrize(("laid", "text"), [
    (Cut(8, 1, 2, 8, spares=8), "2 replicas of TP8/EP8+8"), (Cut(8, 1, 2, 16), "TP8×DP2/EP16"),
    (Cut(1, 1, 16, 16), "TP1×DP16/EP16"), (Cut(8, 4), "TP8×PP4"),
    (Cut(8, 1, 4), "4 replicas of TP8"),
    (Cut(1, 1, 8, 1, slices=8), "TP1×DP8/ETP8"), (Cut(8, 1, 1, 8, context=4), "TP8/DCP4/EP8")])
def test_a_layout_says_how_many_servers_it_is(laid, text):
    assert written(laid)["en"] == text
    assert one_server(laid) in written(laid)["zh"]
