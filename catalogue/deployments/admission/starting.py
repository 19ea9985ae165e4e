"""Which layouts an engine starts: servers that fill nodes, experts and replicas as it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from catalogue.deployments.admission.subject import Cut, Problem, Subject, told
from catalogue.deployments.layout import SHARED_CACHE, SHARED_RANKS, SLICES
from catalogue.deployments.profiles import Starts
from catalogue.deployments.resolved import joined_replicas
from catalogue.engines.released import engine_meant, fitting
from catalogue.entries.models import DRAFTERS
from catalogue.entries.profiles import in_order
from catalogue.kernels.checkpoints import checkpoint_for
from catalogue.messages import Pair, messages

say = messages("catalogue/deployments/admission/starting")

SERVERS, ENGINE, DRAFTS = "servers", "engine", "drafts"
VOCABULARY_BLOCK = 64  # rows to whose multiple engines fill up the vocabulary


def server_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why servers of a cut cannot be put on nodes; None if they fill them.

    A server within a node leaves no card of it over, a larger one takes whole nodes, and so does
    each of its replicas, or several share a node.

    Source: how the launchers of vLLM and SGLang count ranks (``--data-parallel-size-local``,
    ``--nnodes``): the same number on each node.
    """
    per_node = int(subject.node.devices_per_node.value)
    cards, replica = cut.server, cut.tensor * cut.pipeline
    if cards <= per_node:
        fills = per_node % cards == 0 or cut.data == cut.joined
    else:
        fills = cards % per_node == 0 and (replica % per_node == 0 or per_node % replica == 0)
    if fills:
        return None
    return told(SERVERS, "tensor_parallel",
                lambda: say("server-of-cards-replicas-of", cards=cards, replica=replica,
                     per_node=per_node),
                cards=cards, replica=replica, per_node=per_node)


def engine_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why no engine that is meant starts a layout; None if one does, or nothing is known of one.

    Where no engine is named, those of the catalogue that run on the card are meant.
    """
    if not subject.engines_own:
        return None
    found = [layout_problem(engine, subject, cut) for engine in subject.engines]
    return found[0] if found and all(found) else None


def engine_kinds(subject: Subject, cuts: Mapping[str, Any]) -> tuple[Any, ...]:
    """What :func:`engine_problem` looks at: cuts that are equal in it are started alike.

    Args:
        subject: the model on its cards.
        cuts: attributes of cuts, numbers or arrays.

    Returns numbers or arrays of 0 and 1.
    """
    tensor, expert, slices = cuts["tensor"], cuts["expert"], cuts.get("slices", 0)
    left = tensor // expert
    each = slices + (slices == 0) * (left + (left == 0))
    joined = joined_replicas(tensor, expert, slices)
    per_node = int(subject.node.devices_per_node.value)
    replica = tensor * cuts.get("pipeline", 1)
    return tuple(1 * looked_at for looked_at in (
        tensor > 1, expert > 1, each > 1, joined > 1, replica > per_node,
        cuts.get("shared_ranks", 0) > 0, cuts.get("spares", 0) > 0, cuts.get("context", 1) > 1,
        padded_vocabulary(subject) % tensor > 0))


def padded_vocabulary(subject: Subject) -> int:
    """Rows of the embedding, filled up to whole blocks [1].

    Source: ``VocabParallelEmbedding`` of vLLM and SGLang, ``DEFAULT_VOCAB_PADDING_SIZE``.
    """
    return -(-int(subject.numbers["vocab_size"]) // VOCABULARY_BLOCK) * VOCABULARY_BLOCK


def draft_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why drafts are not made: nothing that drafts is published, no engine that is meant drafts
    with it, or none does in stages; None if they are."""
    if cut.drafts and cut.drafter:
        return _drafter_problem(subject, cut)
    if cut.drafts and subject.engines_own and not subject.model.drafts:
        return told(DRAFTS, "draft_tokens",
                    lambda: say("drafted-tokens-no-layer-that", drafts=cut.drafts,
                                model=subject.model.id),
                    drafts=cut.drafts)
    if cut.pipeline == 1 or not cut.drafts or subject.stages_draft:
        return None
    return _staged_problem(subject, cut)


def _drafter_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why no drafts come of a drafter apart from its model: none that is shown to start it is
    meant, or there are stages; None if they do."""
    method = DRAFTERS[cut.drafter]
    if subject.engines_own and not drafted_by(subject, method):
        return told(DRAFTS, "draft_method",
                    lambda: say("drafter-that-no-engine-starts", method=method,
                                model=subject.model.id, engine=_engines(subject)),
                    drafts=cut.drafts)
    if cut.pipeline == 1 or subject.staged_drafts:
        return None
    return _staged_problem(subject, cut)


def _staged_problem(subject: Subject, cut: Cut) -> Problem:
    """That no engine that is meant drafts in pipeline stages."""
    return told(DRAFTS, "draft_tokens",
                lambda: say("drafted-tokens-in-pipeline-stages", drafts=cut.drafts,
                            pipeline=cut.pipeline, engine=_engines(subject)),
                drafts=cut.drafts, stages=cut.pipeline)


def _engines(subject: Subject) -> Pair:
    engines = [subject.engine] if subject.engine else fitting(subject.device)
    return ", ".join(engines), "、".join(engines)


def drafted_by(subject: Subject, method: str) -> bool:
    """Whether an engine that is meant is shown to draft with a drafter of the model, and a
    checkpoint of its format holds it where it is none apart from the model.

    Args:
        subject: the model in its precision on its card, and the engine if one is meant.
        method: of ``catalogue.entries.models.DRAFTERS``, not the model's own layer.
    """
    drafter = subject.model.drafter(method)
    if drafter is None or (drafter.layers is not None and checkpoint_for(
            subject.model, subject.precision, "", subject.device, method) is None):
        return False
    if subject.engine is None:
        names = fitting(subject.device)
        return any(served.engine in names for served in drafter.served)
    profile, release = engine_meant(subject.engine)
    return any(served.engine == profile.id and (
        served.since is None or in_order(served.since) <= in_order(release))
        for served in drafter.served)


def layout_problem(engine: Starts, subject: Subject, cut: Cut) -> Problem | None:
    """Why an engine in its release starts no such layout; None if it does.

    Args:
        engine: of which it is known what it starts.
        subject: the model on its cards.
        cut: that divides it.
    """
    return next(_problems(engine.name, engine.starts, subject, cut), None)


def _problems(name: str, starts: Mapping[str, bool], subject: Subject, cut: Cut
              ) -> Iterator[Problem]:
    ranks, each, ep = cut.tensor * cut.joined, cut.each, cut.expert
    experts = bool(subject.numbers["n_routed_experts"])
    if experts and ep > 1 and each > 1 and not starts.get("divided_experts", False):
        yield told(ENGINE, SLICES if cut.slices else "expert_parallel",
                   lambda: say("no-flag-cuts-experts-on", name=name, ep=ep, ranks=ranks, each=each),
                   ranks=ranks, expert=ep)
    if experts and ep == 1 and cut.joined > 1 and not starts.get("cut_over_replicas", False):
        yield told(ENGINE, SLICES,
                   lambda: say("no-flag-cuts-experts-over", name=name, joined=cut.joined,
                        ranks=ranks), ranks=ranks)
    if cut.joined > 1 and cut.tensor > 1 and not starts.get("wide_replicas", False):
        yield told(ENGINE, "tensor_parallel",
                   lambda: say("attention-is-cut-over-all", name=name, ranks=ranks), ranks=ranks)
    padded = padded_vocabulary(subject)
    if padded % cut.tensor and not starts.get("any_vocabulary", False):
        stated = f"{subject.numbers['vocab_size']:,.0f}"
        yield told(ENGINE, "tensor_parallel", lambda: say(
            "vocabulary-not-dealt", name=name, tp=cut.tensor, stated=stated, padded=f"{padded:,}",
            block=VOCABULARY_BLOCK, of=subject.model.id), parts=cut.tensor, whole=padded)
    per_node = int(subject.node.devices_per_node.value)
    if (cut.joined > 1 and cut.tensor * cut.pipeline > per_node
            and not starts.get("spread_replicas", False)):
        yield told(ENGINE, "tensor_parallel",
                   lambda: say("replicas-of-cards-that-span", name=name,
                               tensor=cut.tensor * cut.pipeline, per_node=per_node),
                   per_node=per_node)
    if cut.shared_ranks:
        yield told(ENGINE, SHARED_RANKS,
                   lambda: say("no-flag-gives-ranks-to", name=name, shared_ranks=SHARED_RANKS))
    if cut.spares and not starts.get("spares", False):
        yield told(ENGINE, "redundant_experts",
                   lambda: say("has-no-redundant-experts-expected", name=name), spares=cut.spares)
    if cut.context > 1 and not starts.get("dealt_cache", False):
        yield told(ENGINE, SHARED_CACHE,
                   lambda: say("deals-no-cache-over-ranks", name=name, shared_cache=SHARED_CACHE,
                               sparse=bool(subject.numbers["index_topk"])), ranks=cut.context)
