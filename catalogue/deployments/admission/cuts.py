"""Whether a cut divides a model, and whether the cache of a request can be dealt so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from catalogue.deployments.admission.subject import Cut, Problem, Subject, told
from catalogue.deployments.layout import SHARED_CACHE, SHARED_RANKS, SLICES
from catalogue.messages import Pair, messages

say = messages("catalogue/deployments/admission/cuts")

DIVISION, DEALT = "division", "dealt"
EXPERTS = "expert_parallel"


def cut_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why a model cannot be cut so, whatever number of cards there is; None if it can."""
    return next(_problems(subject, cut), None)


def _undivided(subject: Subject, key: str, parts: int, name: str) -> Iterator[Problem]:
    whole = int(subject.numbers[name])
    if whole % parts:
        of = subject.model.id
        yield told(DIVISION, key, lambda: say(
            "of-does-not-divide-of", key=key, parts=parts, name=name, whole=whole, of=of),
            parts=parts, whole=whole)


def _problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    numbers, of = subject.numbers, subject.model.id
    tp, pp = cut.tensor, cut.pipeline
    yield from _undivided(subject, "tensor_parallel", tp, "num_attention_heads")
    yield from _undivided(subject, "tensor_parallel", tp, "intermediate_size")
    if subject.numbers["o_groups"]:
        yield from _undivided(subject, "tensor_parallel", tp, "o_groups")
    if has_windows(numbers):
        yield from _undivided(subject, "tensor_parallel", tp, "window_num_attention_heads")
    for name in _kv_heads(subject):
        if (heads := int(numbers[name])) % tp and tp % heads:
            yield told(DIVISION, "tensor_parallel", partial(_neither, tp, name, heads, of),
                       parts=tp, whole=heads)
    if numbers["linear_mamba"]:
        yield from _undivided(subject, "tensor_parallel", tp, "linear_num_value_heads")
        if numbers["linear_num_key_heads"] > 1:  # a single group is copied to every rank
            yield from _undivided(subject, "tensor_parallel", tp, "linear_num_key_heads")
    layers = int(numbers["num_hidden_layers"])
    if pp > layers:
        yield told(DIVISION, "pipeline_parallel",
                   lambda: say("pipeline-parallel-of-exceeds-layers", pp=pp, layers=layers,
                        of=of), parts=pp, whole=layers)
    if numbers["n_routed_experts"]:
        yield from _expert_problems(subject, cut)
        return
    for key, value, expected in ((EXPERTS, cut.expert > 1, 1), ("redundant_experts", cut.spares, 0),
                                 (SHARED_RANKS, cut.shared_ranks, 0)):
        if value:
            yield told(DIVISION, key, partial(_no_experts, of, expected))
    if cut.slices:
        yield told(DIVISION, SLICES, lambda: say("no-slices", of=of))


def has_windows(numbers: Mapping[str, Any]) -> bool:
    """Whether some layers of a model attend to a window, be their heads the same or others.

    Args:
        numbers: input symbols of the model.
    """
    layers = numbers["num_hidden_layers"] - numbers["linear_layers"]
    return bool(layers > numbers["full_attention_layers"])


def _kv_heads(subject: Subject) -> list[str]:
    """Symbols of the KV heads of all kinds of layers; none of those whose cache is whole."""
    if subject.model.attention != "gqa":
        return []
    windows = ["window_num_key_value_heads"] if has_windows(subject.numbers) else []
    return ["num_key_value_heads", *windows]


def _neither(tp: int, name: str, heads: int, of: str) -> Pair:
    return say("tensor-parallel-of-neither-divides", tp=tp, name=name, heads=heads, of=of)


def _no_experts(of: str, expected: int) -> Pair:
    return say("no-experts", of=of, expected=expected)


def _expert_problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    tp, _, dp, ep = cut.degrees
    if cut.slices:
        yield from _slice_problems(subject, cut)
    elif (tp * dp) % ep or (ep % tp and tp % ep):
        yield told(DIVISION, EXPERTS,
                   lambda: say("expert-parallel-of-does-not", ep=ep, tp=tp, dp=dp,
                               ranks=tp * dp), expert=ep, ranks=tp * dp)
    if cut.shared_ranks:
        yield from _shared_problems(subject, cut)
    routed, copies = int(subject.numbers["n_routed_experts"]), cut.spares
    ranks, of = ep - cut.shared_ranks, subject.model.id
    if (routed + copies) % ranks:  # of which some are left, or the problem is told above
        fewest = _copies(routed, copies, ranks)
        yield told(DIVISION, EXPERTS, lambda: say(
            "experts-not-dealt", expert=ep, routed=routed, copies=copies, fewest=fewest, of=of,
            shared_ranks=SHARED_RANKS, shared=cut.shared_ranks),
            expert=ep, routed=routed, copies=copies, fewest=fewest)
    yield from _undivided(subject, SLICES if cut.slices else "tensor_parallel", cut.each,
                          "moe_intermediate_size")


def _slice_problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    """Why experts cannot be cut into the slices that are asked for."""
    tp, _, dp, ep = cut.degrees
    group = ep * cut.slices
    if (tp * dp) % group or group % tp:
        yield told(DIVISION, SLICES, lambda: say(
            "times-expert-parallel-of-does", ep=ep, tp=tp, dp=dp, ranks=tp * dp, key=SLICES,
            slices=cut.slices), slices=cut.slices, expert=ep)
    if cut.slices > 1 and cut.shared_ranks:
        yield told(DIVISION, SLICES, lambda: say(
            "with-is-not-derived-expected", shared_ranks=SHARED_RANKS, key=SLICES,
            slices=cut.slices))
    if cut.slices > 1 and group > tp and subject.numbers.get("exchange_normal", 0):
        yield told(DIVISION, SLICES,
                   lambda: say("over-data-parallel-ranks-has", key=SLICES, slices=cut.slices))


def _shared_problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    """Why shared experts cannot have so many ranks of their own."""
    ranks, of = cut.shared_ranks, subject.model.id
    if not subject.numbers["n_shared_experts"]:
        yield told(DIVISION, SHARED_RANKS, lambda: say("has-no-shared-experts-expected", of=of))
    if cut.shared_ranks >= cut.expert:
        yield told(DIVISION, SHARED_RANKS,
                   lambda: say("leaves-no-rank-of-expert", expert=cut.expert, key=SHARED_RANKS,
                               ranks=ranks))
    if cut.tensor > 1:
        yield told(DIVISION, SHARED_RANKS,
                   lambda: say("with-tensor-parallel-of-is", tensor=cut.tensor, key=SHARED_RANKS,
                               ranks=ranks))
    for mode in ("exchange_normal", "exchange_gathered"):
        if subject.numbers.get(mode, 0):
            yield told(DIVISION, SHARED_RANKS, partial(_low_latency, ranks, mode))


def _low_latency(ranks: int, mode: str) -> Pair:
    return say("is-reached-by-low-latency", key=SHARED_RANKS, ranks=ranks, mode=mode)


def _copies(routed: int, copies: int, ranks: int) -> int:
    """Fewest redundant experts, no fewer than are asked for, that can be dealt out evenly."""
    return -(-(routed + copies) // ranks) * ranks - routed


def context_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why the cache of a request cannot be dealt over so many ranks; None if it can."""
    tensor, shared, of = cut.tensor, cut.context, subject.model.id
    if shared == 1:
        return None
    if shared > tensor or tensor % shared:
        beyond = shared > tensor
        return told(DEALT, SHARED_CACHE,
                    lambda: say("does-not-divide-tensor-parallel", tensor=tensor, key=SHARED_CACHE,
                                shared=shared, beyond=beyond))
    heads = max((int(subject.numbers[name]) for name in _kv_heads(subject)),
                default=int(subject.numbers["num_key_value_heads"]))
    copies = tensor if subject.model.attention == "mla" else max(1, tensor // heads)
    if copies % shared:
        return told(DEALT, SHARED_CACHE,
                    lambda: say("needs-as-many-copies-of", heads=heads, of=of, tensor=tensor,
                                copies=copies, key=SHARED_CACHE, shared=shared))
    if subject.numbers["index_topk"] and subject.model.attention != "mla":
        return told(DEALT, SHARED_CACHE,
                    lambda: say("of-model-with-indexer-is", of=of, key=SHARED_CACHE, shared=shared))
    return None
