"""Which layouts an engine starts: servers that fill nodes, experts and replicas as it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from catalogue.deployments.admission.subject import Cut, Problem, Subject, told
from catalogue.deployments.layout import SHARED_CACHE, SHARED_RANKS, SLICES
from catalogue.deployments.profiles import Running
from catalogue.engines.released import fitting

SERVERS, ENGINE, DRAFTS = "servers", "engine", "drafts"


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
                f"a server of {cards} cards, replicas of {replica}, does not fill whole nodes of "
                f"{per_node}",
                f"一台推理服务器占 {cards} 张卡、每个副本 {replica} 张，"
                f"不能占满每台 {per_node} 卡的整机",
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
    joined = expert * each // tensor
    per_node = int(subject.node.devices_per_node.value)
    replica = tensor * cuts.get("pipeline", 1)
    return tuple(1 * looked_at for looked_at in (
        tensor > 1, expert > 1, each > 1, joined > 1, replica > per_node,
        cuts.get("shared_ranks", 0) > 0, cuts.get("spares", 0) > 0, cuts.get("context", 1) > 1))


def draft_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why drafts are not made: no layer that drafts is published, or no engine drafts in stages;
    None if they are."""
    if cut.drafts and subject.engines_own and not subject.model.drafts:
        return told(DRAFTS, "draft_tokens",
                    f"{cut.drafts} drafted tokens: no layer that drafts is published with "
                    f"'{subject.model.id}', expected 0",
                    f"起草 {cut.drafts} 个 token：'{subject.model.id}' 没有发布起草层，应为 0",
                    drafts=cut.drafts)
    if cut.pipeline == 1 or not cut.drafts or subject.stages_draft:
        return None
    engine = subject.engine or "、".join(fitting(subject.device))
    return told(DRAFTS, "draft_tokens",
                f"{cut.drafts} drafted tokens in {cut.pipeline} pipeline stages: "
                f"{engine.replace('、', ', ')} draft none there",
                f"{cut.pipeline} 级流水线中起草 {cut.drafts} 个 token：{engine} 不支持",
                drafts=cut.drafts, stages=cut.pipeline)


def layout_problem(engine: Running, subject: Subject, cut: Cut) -> Problem | None:
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
                   f"{name}: no flag cuts experts on {ep} of {ranks} ranks into {each} slices, "
                   f"expected whole experts, expert_parallel of {ranks}, or all in slices, of 1",
                   f"{name}：没有参数能把 {ranks} 个 rank 中 {ep} 个上的专家各切 {each} 份，"
                   f"应为整个专家（expert_parallel {ranks}）或全部切分（1）",
                   ranks=ranks, expert=ep)
    if experts and ep == 1 and cut.joined > 1 and not starts.get("cut_over_replicas", False):
        yield told(ENGINE, SLICES,
                   f"{name}: no flag cuts experts over {cut.joined} replicas, expected whole "
                   f"experts, expert_parallel of {ranks}",
                   f"{name}：没有参数能把专家切到 {cut.joined} 个副本上，应为整个专家，"
                   f"expert_parallel {ranks}", ranks=ranks)
    if cut.joined > 1 and cut.tensor > 1 and not starts.get("wide_replicas", False):
        yield told(ENGINE, "tensor_parallel",
                   f"{name}: attention is cut over all {ranks} ranks of a server or over none, "
                   f"expected tensor_parallel of {ranks} or 1",
                   f"{name}：注意力要么切到服务器的全部 {ranks} 个 rank，要么不切，"
                   f"tensor_parallel 应为 {ranks} 或 1", ranks=ranks)
    per_node = int(subject.node.devices_per_node.value)
    if (cut.joined > 1 and cut.tensor * cut.pipeline > per_node
            and not starts.get("spread_replicas", False)):
        yield told(ENGINE, "tensor_parallel",
                   f"{name}: replicas of {cut.tensor * cut.pipeline} cards that span nodes share "
                   f"no experts, expected replicas of at most {per_node}",
                   f"{name}：跨机的副本（{cut.tensor * cut.pipeline} 卡）不能共享专家，"
                   f"每个副本至多 {per_node} 卡", per_node=per_node)
    if cut.shared_ranks:
        yield told(ENGINE, SHARED_RANKS,
                   f"{name}: no flag gives ranks to the shared expert alone, expected no "
                   f"parallelism.{SHARED_RANKS}",
                   f"{name}：没有参数能给共享专家单独的 rank，不应给出 parallelism.{SHARED_RANKS}")
    if cut.spares and not starts.get("spares", False):
        yield told(ENGINE, "redundant_experts",
                   f"{name}: has no redundant experts, expected 0",
                   f"{name}：没有冗余专家，应为 0", spares=cut.spares)
    if cut.context > 1 and not starts.get("dealt_cache", False):
        yield told(ENGINE, SHARED_CACHE,
                   f"{name}: deals no cache over ranks on these cards, expected 1",
                   f"{name}：在这种卡上不支持 {SHARED_CACHE}，应为 1", ranks=cut.context)
