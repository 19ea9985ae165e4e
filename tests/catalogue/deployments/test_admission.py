"""Admission rules: for each, deployments that are accepted and that are refused."""

import pytest

import catalogue
from catalogue.deployments.admission import (
    cut_of,
    layout_problem,
    problems,
    server_problem,
    subject_of,
)
from catalogue.deployments.cuts import Cut
from catalogue.deployments.profiles import Starts

BASE = "h200-r1-vllm-tp8"
SUBJECT = subject_of(catalogue.load_scenario(BASE))  # nodes of eight cards
FLAGS = ("divided_experts", "cut_over_replicas", "wide_replicas", "spread_replicas", "spares",
         "dealt_cache")


def kinds(settings, name=BASE):
    scenario = catalogue.load_scenario(name, overrides=settings)
    return [problem.kind for problem in problems(subject_of(scenario), cut_of(scenario))]


def cut(tensor, pipeline, data, expert, nodes=1, engine="vllm@0.13.0", **rest):
    """Overrides that cut the base so."""
    named = {"tensor": tensor, "pipeline": pipeline, "data": data, "expert": expert}
    return (f"cluster.nodes={nodes}", f"engine={engine}",
            *(f"parallelism.{name}_parallel={size}" for name, size in named.items()),
            *(f"parallelism.{name}={size}" for name, size in rest.items()))


def test_measured_deployments_are_accepted():
    names = catalogue.deployment_names()
    assert [name for name in names if catalogue.load_scenario(name).measured and kinds((), name)
            ] == []


@pytest.mark.parametrize(("settings", "refused"), [
    (cut(8, 1, 1, 1), []), (cut(8, 1, 1, 8), []),
    (cut(8, 1, 1, 2), ["engine"]),  # each of two halves of the experts in four slices
    (cut(8, 1, 1, 2, engine="sglang@0.5.6.post2"), []),
    (cut(8, 1, 2, 16, 2), []), (cut(16, 1, 1, 16, 2), []),
    (cut(16, 1, 2, 32, 4), []), (cut(16, 1, 2, 32, 4, engine="vllm@0.11.0"), ["engine"]),
    (cut(1, 1, 8, 1, expert_tensor_parallel=8), []),
    (cut(4, 1, 2, 8, engine="tensorrt-llm@1.0.0"), ["engine"]),
    (cut(8, 1, 1, 8, decode_context_parallel=8), []),
    (cut(8, 1, 1, 8, engine="vllm@0.9.2", decode_context_parallel=8), ["engine"]),
    (cut(8, 1, 1, 8, redundant_experts=8), []),
    (cut(8, 1, 1, 8, engine="vllm@0.8.5.post1", redundant_experts=8), ["engine"]),
    ((*cut(4, 1, 6, 12, 3), "parallelism.redundant_experts=8"), ["servers"]),
    ((*cut(4, 2, 1, 4), "workload.draft_tokens=1"), ["drafts"]),
    ((*cut(4, 2, 1, 4, engine="vllm@0.33.0"), "workload.draft_tokens=1"), []),
    (("workload.context_tokens=163840",), []), (("workload.context_tokens=163841",), ["context"]),
    (("precision=w4a8-int8",), ["kernel"]), (("precision=nvfp4",), [])])
def test_rules_of_cards_engines_and_lengths(settings, refused):
    assert kinds(settings) == refused


def test_a_cut_that_cannot_be_computed_is_not_loaded():
    with pytest.raises(catalogue.ParamsError, match=r"^--set parallelism\.expert_parallel: "):
        catalogue.load_scenario(BASE, overrides=["parallelism.expert_parallel=3"])


def start(flags, laid_out, subject=SUBJECT):
    """Why a release that knows some flags does not start a layout."""
    release = Starts(SUBJECT.engines[0].profile, "1.0", dict.fromkeys(flags, True), True)
    return layout_problem(release, subject, laid_out)


@pytest.mark.parametrize(("laid_out", "needed"), [
    (Cut(8, 1, 1, 8), None), (Cut(1, 8, 2), None), (Cut(8, 1, 1, 2), "divided_experts"),
    (Cut(2, 1, 1, 2, slices=1), None), (Cut(1, 1, 4, 2, slices=2), "divided_experts"),
    (Cut(1, 1, 8, 1, slices=8), "cut_over_replicas"), (Cut(8, 1, 1, 1, slices=8), None),
    (Cut(1, 1, 2, 2), None), (Cut(2, 1, 2, 4), "wide_replicas"), (Cut(1, 8, 2, 2), None),
    (Cut(1, 9, 2, 2), "spread_replicas"), (Cut(16, 1, 1, 16), None),
    (Cut(8, 1, 1, 8, spares=1), "spares"), (Cut(2, context=2), "dealt_cache")])
def test_a_layout_is_started_by_the_flag_it_needs_alone(laid_out, needed):
    assert start([needed] if needed else [], laid_out) is None
    if needed:
        assert start(set(FLAGS) - {needed}, laid_out).kind == "engine"
    dense = subject_of(catalogue.load_scenario("h20-qwen3-8b"))
    assert start((), Cut(8), dense) is start((), Cut(1, 1, 8), dense) is None


@pytest.mark.parametrize(("laid_out", "fills"), [
    (Cut(8), True), (Cut(4, 1, 2), True), (Cut(3), True),  # alone on its node
    (Cut(3, 1, 2), False), (Cut(1, 3, 2), False),
    (Cut(2, 1, 3, 6), True), (Cut(2, 1, 6, 6), False),  # one such server, or two
    (Cut(12), False), (Cut(16, 1, 3), True),
    (Cut(4, 1, 6, 24), True), (Cut(2, 4, 6, 12), True),  # replicas of a part of a node, of a whole
    (Cut(3, 1, 8, 24), False), (Cut(12, 1, 2, 24), False), (Cut(1, 12, 2, 2), False)])
def test_servers_fill_nodes_of_eight(laid_out, fills):
    assert (server_problem(SUBJECT, laid_out) is None) == fills
