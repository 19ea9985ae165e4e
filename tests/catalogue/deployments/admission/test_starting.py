"""Which layouts a release starts: each needs what it needs and nothing else; servers on nodes."""

from itertools import product

import numpy as np
import pytest

import catalogue
from catalogue.deployments.admission.rules import subject_of
from catalogue.deployments.admission.starting import (
    draft_problem,
    engine_kinds,
    layout_problem,
    server_problem,
)
from catalogue.deployments.admission.subject import Cut
from catalogue.deployments.profiles import Starts

SUBJECT = subject_of(catalogue.load_scenario("h200-r1-vllm-tp8"))  # nodes of eight cards
FLAGS = ("divided_experts", "cut_over_replicas", "wide_replicas", "spread_replicas", "spares",
         "dealt_cache")


def start(flags, cut, subject=SUBJECT):
    """Why a release that knows some flags does not start a cut."""
    release = Starts(SUBJECT.engines[0].profile, "1.0", dict.fromkeys(flags, True), True)
    return layout_problem(release, subject, cut)


@pytest.mark.parametrize(("cut", "needed", "key"), [
    (Cut(), (), None), (Cut(8), (), None), (Cut(8, 1, 1, 8), (), None), (Cut(1, 8, 2), (), None),
    (Cut(8, 1, 1, 2), ("divided_experts",), "expert_parallel"),
    (Cut(2, 1, 1, 2, slices=1), (), None),
    (Cut(1, 1, 4, 2, slices=2), ("divided_experts",), "expert_tensor_parallel"),
    (Cut(1, 1, 8, 1, slices=8), ("cut_over_replicas",), "expert_tensor_parallel"),
    (Cut(8, 1, 1, 1, slices=8), (), None),  # a replica alone
    (Cut(1, 1, 2, 2), (), None),  # replicas of one card
    (Cut(2, 1, 2, 4), ("wide_replicas",), "tensor_parallel"),
    (Cut(1, 8, 2, 2), (), None),  # a replica fills its node
    (Cut(1, 9, 2, 2), ("spread_replicas",), "tensor_parallel"),
    (Cut(16, 1, 1, 16), (), None),  # over two nodes, and alone
    (Cut(8, 1, 1, 8, spares=1), ("spares",), "redundant_experts"),
    (Cut(2, context=2), ("dealt_cache",), "decode_context_parallel"),
])
def test_a_layout_is_started_by_what_it_needs_and_by_nothing_less(cut, needed, key):
    assert start(needed, cut) is None
    for flag in needed:
        problem = start(set(FLAGS) - {flag}, cut)
        assert problem.kind == "engine"
        assert problem.key == key
        assert "1.0" in problem.text["en"]
        ranks = cut.context if flag == "dealt_cache" else cut.tensor * cut.joined
        assert problem.numbers.get("ranks", ranks) == ranks


def test_no_release_gives_the_shared_expert_ranks_of_its_own():
    problem = start(FLAGS, Cut(1, 1, 16, 16, shared_ranks=1))
    assert problem.key == "shared_expert_ranks"


def test_a_model_without_experts_has_none_to_cut():
    dense = subject_of(catalogue.load_scenario("h20-qwen3-8b"))
    for cut in (Cut(8), Cut(1, 1, 8)):
        assert start((), cut, dense) is None


def test_what_is_looked_at_alike_is_started_alike():
    """Whatever a release knows, for every cut of up to two nodes."""
    cuts = [Cut(tensor, pipeline, data, expert, slices, spares, shared, context)
            for tensor, pipeline, data, slices, spares, shared, context in product(
                (1, 2, 8, 16), (1, 2), (1, 2, 8), (0, 1, 2), (0, 8), (0, 1), (1, 2))
            for expert in (1, 2, 8, 16)
            if tensor * data % expert == 0 and expert * max(slices, 1) % tensor == 0]
    names = ("tensor", "pipeline", "data", "expert", "slices", "spares", "shared_ranks", "context")
    kinds = np.array(np.broadcast_arrays(*engine_kinds(SUBJECT, {
        name: np.array([getattr(cut, name) for cut in cuts]) for name in names}))).T
    for flags in [(), *((flag,) for flag in FLAGS), FLAGS[:3], FLAGS]:
        found = {}
        for cut, kind in zip(cuts, map(tuple, kinds.tolist()), strict=True):
            problem = start(flags, cut)
            key = problem and problem.key.replace("expert_tensor_parallel", "expert_parallel")
            assert found.setdefault(kind, key) == key, (flags, cut)
    for cut, kind in list(zip(cuts, kinds.tolist(), strict=True))[::37]:
        assert list(engine_kinds(SUBJECT, vars(cut))) == kind
    stated = {"tensor": 8, "expert": 8}
    assert engine_kinds(SUBJECT, stated) == engine_kinds(SUBJECT, vars(Cut(8, expert=8)))


@pytest.mark.parametrize(("cut", "fills"), [
    (Cut(8), True), (Cut(4, 1, 2), True), (Cut(3), True),  # alone on its node
    (Cut(3, 1, 2), False), (Cut(6, 1, 2), False), (Cut(1, 3, 2), False),
    (Cut(2, 1, 3, 6), True), (Cut(2, 1, 6, 6), False),  # one such server, or two
    (Cut(12), False), (Cut(16), True), (Cut(16, 1, 3), True),
    (Cut(4, 1, 6, 24), True), (Cut(2, 4, 6, 12), True),  # replicas of a part of a node, of a whole
    (Cut(3, 1, 8, 24), False), (Cut(12, 1, 2, 24), False), (Cut(1, 12, 2, 2), False),
])
def test_servers_fill_nodes_of_eight(cut, fills):
    problem = server_problem(SUBJECT, cut)
    assert (problem is None) == fills
    if problem:
        assert (problem.kind, problem.key) == ("servers", "tensor_parallel")
        assert problem.numbers == {"cards": cut.server, "replica": cut.tensor * cut.pipeline,
                                   "per_node": 8}
        assert all(str(number) in problem.text["zh"] for number in problem.numbers.values())


def test_drafts_need_a_layer_that_drafts_and_an_engine_that_drafts_in_stages():
    old, new, bare, any_way = (subject_of(catalogue.load_scenario(name, overrides=[
        f"engine={engine}"])) for name, engine in (
            ("h200-r1-vllm-tp8", "vllm@0.13.0"), ("h200-r1-vllm-tp8", "vllm@0.33.0"),
            ("h20-qwen3-8b", "vllm@0.33.0"), ("h20-qwen3-8b", "vllm@0.33.0")))
    object.__setattr__(any_way, "engines_own", False)
    for subject, cut, reason in (
            (old, Cut(8, 2), None), (old, Cut(8, drafts=1), None),
            (old, Cut(8, 2, drafts=3), {"drafts": 3, "stages": 2}),
            (new, Cut(8, 2, drafts=3), None),
            (bare, Cut(drafts=1), {"drafts": 1}), (bare, Cut(), None),
            (any_way, Cut(drafts=1), None)):
        problem = draft_problem(subject, cut)
        assert (problem and problem.numbers) == reason
        assert problem is None or (problem.kind, problem.key) == ("drafts", "draft_tokens")
    assert "vllm@0.13.0" in draft_problem(old, Cut(8, 2, drafts=3)).text["en"]
