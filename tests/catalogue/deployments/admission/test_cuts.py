"""Which cuts divide a model, at the numbers where each law begins to refuse, and what is told."""

from types import SimpleNamespace

import pytest

from catalogue.deployments.admission.cuts import context_problem, cut_problem
from catalogue.deployments.admission.notation import one_server, written
from catalogue.deployments.admission.subject import Cut, Subject

TENSOR, EXPERT, SLICES = "tensor_parallel", "expert_parallel", "expert_tensor_parallel"
APART, CACHE = "shared_expert_ranks", "decode_context_parallel"
NUMBERS = {"num_attention_heads": 24, "intermediate_size": 48, "o_groups": 0,
           "num_key_value_heads": 4, "num_hidden_layers": 5, "n_routed_experts": 12,
           "n_shared_experts": 1, "moe_intermediate_size": 18, "index_topk": 0}


def subject(attention="gqa", **changed):
    """A small model, of which nothing but its counts matters here."""
    return Subject(SimpleNamespace(id="small", attention=attention), None, None, None,
                   NUMBERS | changed)


def refused(cut, says=(), attention="gqa", **changed):
    """Key and numbers of what keeps a model from being cut so, told in both languages."""
    problem = cut_problem(subject(attention, **changed), cut)
    if problem is None:
        return None
    assert problem.kind == "division"
    assert "small" in problem.text["en"] or problem.key in problem.text["en"]
    assert all(word in problem.text["en"] for word in says)
    return problem.key, dict(problem.numbers)


@pytest.mark.parametrize(("cut", "changed", "found"), [
    (Cut(4, 5, 3, 4), {}, None), (Cut(), {}, None),
    (Cut(5), {}, (TENSOR, {"parts": 5, "whole": 24})),
    (Cut(4), {"intermediate_size": 50}, (TENSOR, {"parts": 4, "whole": 50})),
    (Cut(4, expert=4), {"o_groups": 6}, (TENSOR, {"parts": 4, "whole": 6})),
    (Cut(4, expert=4), {"o_groups": 8}, None),
    # heads of keys are dealt, or copied, but not both
    (Cut(4, expert=4), {"num_key_value_heads": 8}, None),
    (Cut(4, expert=4), {"num_key_value_heads": 2}, None),
    (Cut(4, expert=4), {"num_key_value_heads": 6}, (TENSOR, {"parts": 4, "whole": 6})),
    (Cut(1, 5), {}, None),
    (Cut(1, 6), {}, ("pipeline_parallel", {"parts": 6, "whole": 5})),
    # an expert that is not whole on a rank is cut like the rest
    (Cut(4, expert=1), {}, (TENSOR, {"parts": 4, "whole": 18})), (Cut(4, expert=2), {}, None),
])
def test_a_cut_divides_heads_widths_and_layers(cut, changed, found):
    assert refused(cut, **changed) == found


def test_a_latent_has_no_heads_to_share():
    assert refused(Cut(4, expert=4), num_key_value_heads=6, attention="mla") is None


@pytest.mark.parametrize(("cut", "key", "says"), [
    (Cut(4, expert=2), EXPERT, "expected 1"), (Cut(4, spares=1), "redundant_experts", "expected 0"),
    (Cut(4, shared_ranks=1), APART, "expected 0"), (Cut(4, slices=2), SLICES, "expected none"),
])
def test_a_model_without_experts_is_asked_for_nothing_of_them(cut, key, says):
    assert refused(cut, [says], n_routed_experts=0) == (key, {})
    assert refused(Cut(4), n_routed_experts=0) is None


@pytest.mark.parametrize(("cut", "found"), [
    (Cut(4, 1, 3, 12), None), (Cut(4, 1, 3, 2), None),
    (Cut(4, 1, 3, 8), (EXPERT, {"expert": 8, "ranks": 12})),
    (Cut(4, 1, 3, 6), (EXPERT, {"expert": 6, "ranks": 12})),  # neither within nor of whole replicas
    (Cut(4, 1, 3, 3), (EXPERT, {"expert": 3, "ranks": 12})),
    (Cut(1, 1, 8, 8), (EXPERT, {"expert": 8, "routed": 12, "copies": 0, "fewest": 4})),
    (Cut(1, 1, 8, 8, spares=4), None),
    (Cut(1, 1, 8, 8, spares=3), (EXPERT, {"expert": 8, "routed": 12, "copies": 3, "fewest": 4})),
    (Cut(1, 1, 8, 8, spares=5), (EXPERT, {"expert": 8, "routed": 12, "copies": 5, "fewest": 12})),
    (Cut(1, 1, 9, 9, spares=3, shared_ranks=1),
     (EXPERT, {"expert": 9, "routed": 12, "copies": 3, "fewest": 4})),
    (Cut(1, 1, 9, 9, spares=4, shared_ranks=1), None),
])
def test_experts_and_copies_are_dealt_evenly_over_ranks_of_whole_replicas(cut, found):
    assert refused(cut) == found


@pytest.mark.parametrize(("cut", "changed", "found"), [
    (Cut(2, 1, 6, 3, 2), {}, None), (Cut(3, 1, 4, 3, 1), {"num_key_value_heads": 3}, None),
    (Cut(2, 1, 6, 3, 4), {}, (SLICES, {"parts": 4, "whole": 18})),
    (Cut(1, 1, 12, 3, 3), {}, (SLICES, {"slices": 3, "expert": 3})),  # nine of twelve ranks
    (Cut(4, 1, 3, 3, 2), {}, (SLICES, {"slices": 2, "expert": 3})),  # six, in replicas of four
    (Cut(1, 1, 5, 5, 1, shared_ranks=1), {}, None),
    (Cut(1, 1, 10, 5, 2, shared_ranks=1), {}, (SLICES, {})),
    (Cut(2, 1, 6, 3, 2), {"exchange_normal": 1}, (SLICES, {})),
    (Cut(2, 1, 6, 3, 2), {"exchange_normal": 0}, None),
    (Cut(2, 1, 6, 6, 1), {"exchange_normal": 1}, None),
    (Cut(6, 1, 1, 3, 2), {"num_key_value_heads": 6, "exchange_normal": 1}, None),  # one replica
])
def test_slices_fill_whole_replicas_and_divide_an_expert(cut, changed, found):
    assert refused(cut, **changed) == found


@pytest.mark.parametrize(("cut", "changed", "says"), [
    (Cut(1, 1, 5, 5, shared_ranks=1), {}, None), (Cut(1, 1, 5, 5, shared_ranks=4), {}, None),
    (Cut(1, 1, 5, 5, shared_ranks=5), {}, "expected fewer than 5"),
    (Cut(1, 1, 5, 5, shared_ranks=1), {"n_shared_experts": 0}, "no shared experts"),
    (Cut(2, 1, 5, 10, shared_ranks=4), {}, "4 with tensor_parallel of 2"),
    (Cut(1, 1, 5, 5, shared_ranks=1), {"exchange_normal": 0, "exchange_gathered": 0}, None),
    (Cut(1, 1, 5, 5, shared_ranks=1), {"exchange_normal": 1}, "with exchange_normal"),
    (Cut(1, 1, 5, 5, shared_ranks=1), {"exchange_gathered": 1}, "with exchange_gathered"),
])
def test_shared_experts_apart_leave_ranks_to_the_routed_ones(cut, changed, says):
    assert refused(cut, [says or ""], **changed) == (says and (APART, {}))


@pytest.mark.parametrize(("cut", "attention", "changed", "says"), [
    (Cut(8), "gqa", {"index_topk": 3}, None),
    (Cut(4, context=8), "mla", {}, "8 exceeds tensor_parallel 4"),
    (Cut(8, context=3), "mla", {}, "3 does not divide tensor_parallel 8"),
    (Cut(8, context=8), "mla", {}, None), (Cut(8, context=2), "mla", {"index_topk": 3}, "indexer"),
    (Cut(8, context=2), "gqa", {}, None),  # four heads over eight ranks: two copies of each
    (Cut(8, context=4), "gqa", {}, "keep 2"), (Cut(4, context=2), "gqa", {}, "keep 1"),
    (Cut(4, context=2), "gqa", {"num_key_value_heads": 8}, "keep 1"),
    (Cut(8, context=4), "gqa", {"num_key_value_heads": 2}, None),
])
def test_a_cache_is_dealt_over_ranks_that_would_hold_copies_of_it(cut, attention, changed, says):
    problem = context_problem(subject(attention, **changed), cut)
    assert (problem is None) == (says is None)
    if problem:
        assert (problem.kind, problem.key) == ("dealt", CACHE)
        assert says in problem.text["en"]


@pytest.mark.parametrize(("cut", "text"), [
    (Cut(), "TP1"), (Cut(2, 3, 5, 2), "5 replicas of TP2×PP3/EP2"),
    (Cut(2, 3, 5, 10, spares=7), "TP2×PP3×DP5/EP10+7"), (Cut(2, 1, 1, 1, slices=2), "TP2"),
    (Cut(2, 1, 1, 2, slices=1), "TP2/EP2"), (Cut(6, 1, 1, 3, slices=2), "TP6/EP3×ETP2"),
    (Cut(1, 1, 6, 3, slices=2, context=1), "TP1×DP6/EP3×ETP2"), (Cut(4, context=2), "TP4/DCP2"),
    (Cut(2, 1, 6, 6), "2 replicas of TP2×DP3/EP6"),
    (Cut(1, 1, 4, 1, slices=2), "2 replicas of TP1×DP2/ETP2"),
])
def test_a_layout_is_written_by_the_degrees_that_are_more_than_one(cut, text):
    assert written(cut)["en"] == text
    assert one_server(cut) in written(cut)["zh"]
    assert ("个实例" in written(cut)["zh"]) == ("replicas" in text)


@pytest.mark.parametrize(("cut", "each", "joined", "server"), [
    (Cut(), 1, 1, 1), (Cut(8, 3, 5, 2), 4, 1, 24), (Cut(2, 3, 5, 10), 1, 5, 30),
    (Cut(2, 3, 6, 3, 4), 4, 6, 36), (Cut(8, 1, 2, 2, 1), 1, 1, 8)])
def test_ranks_that_share_experts_are_one_server(cut, each, joined, server):
    assert (cut.each, cut.joined, cut.server) == (each, joined, server)
