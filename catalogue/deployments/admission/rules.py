"""All rules by which a deployment is loaded or not, in the order in which they are asked."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from catalogue.deployments.admission.cuts import context_problem, cut_problem
from catalogue.deployments.admission.scale_blocks import block_problem
from catalogue.deployments.admission.starting import (
    draft_problem,
    engine_kinds,
    engine_problem,
    server_problem,
)
from catalogue.deployments.admission.subject import Cut, Problem, Rule, Subject, told
from catalogue.deployments.layout import DEGREES, SHARED_CACHE, SHARED_RANKS, SLICES
from catalogue.deployments.physics_inputs import mechanisms_name
from catalogue.deployments.precision_support import missing_dtypes, nearest, on_card
from catalogue.deployments.scenario import Scenario, model_inputs
from catalogue.engines.released import has_profile
from catalogue.entries.deployments import Precision
from catalogue.entries.models import DRAFTERS, Model
from catalogue.kernels.releases import (
    CLASS,
    Part,
    Support,
    attention_kind,
    known_to_engines,
    support,
)
from catalogue.kernels.releases import nearest as replacing
from catalogue.messages import Pair, join, messages

common = messages("common")
say = messages("catalogue/deployments/admission/rules")

HOST_FORMAT, KERNEL = "host_format", "kernel"
CONTEXT, STAGES = "context", "stages"
KINDS = (HOST_FORMAT, KERNEL, CONTEXT, "division", "dealt", "blocks", "servers",
         "engine", STAGES, "drafts")
"""Why nothing loads it, in the order in which it is asked; in words: :func:`kind_words`."""


@cache
def class_words() -> dict[str, Pair]:
    """Of classes of tensors, as a precision names them."""
    return {
        "attention": common("attention-projections"), "core": common("attention-core"),
        "index": say("scores-of-indexer"), "dense_mlp": common("dense-mlp"),
        "shared_expert": common("shared-experts"), "router": common("router"),
        "routed_expert": common("routed-experts"), "head": common("output-head"),
    }


@cache
def kind_words() -> dict[str, Pair]:
    """Of ``KINDS``, what is left out so."""
    return {
        HOST_FORMAT: say("precisions-made-for-experts-on"),
        KERNEL: say("precisions-that-engines-refuse"),
        CONTEXT: say("requests-longer-than-model-takes"),
        "division": say("layouts-that-divide-neither-model"),
        "dealt": say("layouts-that-deal-cache-over"),
        "blocks": say("layouts-that-cut-block-of"),
        "servers": say("layouts-whose-servers-do-not"),
        "engine": say("layouts-that-no-engine-starts"),
        STAGES: say("layouts-with-pipeline-stages-of"),
        "drafts": say("layouts-tried-without-drafts-in"),
    }


def lacking_words(subject: Subject) -> Pair:
    """What the card's matrix unit lacks of what the precision multiplies, a clause."""
    device, precision = subject.device.name, subject.precision.id
    classes: dict[str, list[Pair]] = {}
    for name, dtype in missing_dtypes(subject.precision, subject.device, _on_card(subject)):
        classes.setdefault(dtype, []).append(class_words()[name])
    return say("has-no-matrix-unit-for", precision=precision, device=(device["en"], device["zh"]),
               wanted=join((", ", "；"), [say("dtype-for", dtype=dtype.upper(), classes=join(
                   (", ", "、"), members)) for dtype, members in classes.items()]))


def _supported(subject: Subject) -> Support:
    """What the tables of kernels say of a precision on its card."""
    if not has_profile(subject.engine):
        return Support()  # a reader's own: nothing is known of its kernels
    return support(subject.precision, subject.device, subject.engine, model=subject.model,
                   classes=_on_card(subject))


def _on_card(subject: Subject) -> list[str] | None:
    """Classes that the card multiplies; None for all."""
    return on_card(subject.precision, subject.offload)


def host_problem(subject: Subject, _: Cut) -> Problem | None:
    """A precision whose experts are stored for a processor, without a processor that has them."""
    if subject.offload is not None or not subject.numbers["n_routed_experts"]:
        return None
    if not subject.precision.host_experts:
        return None
    stored, of = subject.precision.weights.routed_expert, subject.precision.id
    return told(HOST_FORMAT, "precision",
                lambda: say("experts-of-are-stored-in", of=of, stored=stored),
                stored=stored)


def refused_problem(subject: Subject, _: Cut) -> Problem | None:
    """A precision that the engine refuses on the card, or every engine that starts there."""
    if not subject.engines_own:
        return None
    found = _supported(subject)
    if found.verdict != "refuses":
        return None
    return told(KERNEL, "precision", lambda: _refusal_words(subject, found),
                sources=[refusal.source for refusal in found.refusals])


def known_to_run(subject: Subject) -> bool:
    """Whether a source says that a precision runs, or nothing is known of any on the card.

    Args:
        subject: the model on its cards.
    """
    return (not subject.engines_own or not known_to_engines(subject.device)
            or _supported(subject).verdict == "runs")


def kernel_words(subject: Subject) -> Pair | None:
    """What an answer says of the kernels that run a precision; None where there is nothing to say.

    That no source is known, or that weights are widened for want of a matrix unit.

    Args:
        subject: the model on its cards.
    """
    found = _supported(subject)
    lacking = missing_dtypes(subject.precision, subject.device, _on_card(subject))
    if found.verdict == "unknown":
        told = [_unknown_words(subject, found), *([lacking_words(subject)] if lacking else [])]
    elif found.kernel and (lacking or found.kernel.widened):
        told = [*([lacking_words(subject)] if lacking else []), found.kernel.words]
    else:
        return None
    return join((". ", "。"), [(en[0].upper() + en[1:], zh) for en, zh in told])


def _refusal_words(subject: Subject, found: Support) -> Pair:
    """Who refuses what, and what runs there instead."""
    near = _replacement(subject)
    refusals = join(("; ", "；"), [say(
        "refused", engine=refusal.engine, release=refusal.release or "",
        released=refusal.release is not None, whole=refusal.part is None,
        part=_part_words(refusal.part, subject), why=refusal.why, source=refusal.source,
    ) for refusal in {one.engine: one for one in found.refusals[::-1]}.values()])
    return say("refuses", model=subject.model.id, precision=subject.precision.id,
               device=subject.device.id, refusals=refusals, near=bool(near), nearest=near)


def _unknown_words(subject: Subject, found: Support) -> Pair:
    """That no source decides, and what times are computed with."""
    cards = mechanisms_name(subject.device)
    if not known_to_engines(subject.device):
        return say("no-engine-known", device=subject.device.id, cards=cards,
                   named=bool(subject.engine), engine=subject.engine or "")
    parts = join((", ", "、"), [_part_words(part, subject) for part in found.unknown])
    near = _replacement(subject)
    return say("no-source", model=subject.model.id, engine=subject.engine or "",
               named=bool(subject.engine), precision=subject.precision.id,
               device=subject.device.id, cards=cards, parts=parts, near=bool(near),
               nearest=near)


def _replacement(subject: Subject) -> str:
    """Name of the precision that runs there and replaces the one asked for best; empty if none."""
    near = replacing(subject.precision, subject.device, subject.engine, subject.model,
                     _on_card(subject))
    return near.id if near else ""


def _part_words(part: Part | None, subject: Subject) -> Pair:
    """A part of a precision: its class, its format, what it is multiplied in."""
    if part is None:
        return "", ""
    if part.name == CLASS:
        return say("part-class", stored=part.stored)
    if part.name == "cache":
        return say("part-cache", kind=attention_kind(subject.model), stored=part.stored,
                   dtype=part.multiplied.upper())
    return say("part", name=class_words()[part.name], stored=part.stored,
               dtype=part.multiplied.upper())


def length_problem(subject: Subject, _: Cut) -> Problem | None:
    """Requests that are longer than the positions that the model knows."""
    asked, most = subject.context, positions(subject.model)
    if asked is None or not too_long(asked, most):
        return None
    return told(CONTEXT, "context_tokens", lambda: length_words(asked, subject.model),
                asked=asked, most=most)


def length_words(tokens: float, model: Model) -> Pair:
    """Return the sentence that refuses requests of so many tokens, without its stop."""
    return say("requests-of-tokens-are-longer", context=f"{tokens:,.0f}",
               most=f"{positions(model):,.0f}", of=model.id)


def positions(model: Model) -> float:
    """Return the positions of a model [token]; infinite where nothing states them."""
    stated = model.max_position_embeddings
    return math.inf if stated is None else stated.value


def too_long(tokens: Any, known: Any) -> Any:
    """Return whether requests are longer than the positions of a model; an array for arrays.

    Args:
        tokens: of prompt and answer together [token].
        known: positions of the model [token].
    """
    return tokens > known


def staged_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Ranks that share experts, and so step together, cut into pipeline stages.

    With prompts beside decode the closed form of their steady state is too fast near saturation,
    held against the simulation.
    """
    if subject.staged_groups or cut.pipeline == 1 or cut.expert * max(1, cut.slices) <= cut.tensor:
        return None
    return told(STAGES, "pipeline_parallel",
                lambda: say("pipeline-stages-of-ranks-that", pipeline=cut.pipeline),
                stages=cut.pipeline)


_EXPERTS = ("tensor", "data", "expert", "slices")
RULES = (
    Rule(HOST_FORMAT, (), ("precision", "offload"), host_problem),
    Rule(KERNEL, (), ("precision", "device", "engine", "model", "engines_own", "offload"),
         refused_problem),
    Rule(CONTEXT, (), ("model", "context"), length_problem),
    Rule("division", ("pipeline",), ("model",), cut_problem),
    Rule("division", (*_EXPERTS, "spares", "shared_ranks"), ("model",), cut_problem),
    Rule("dealt", ("tensor", "context"), ("model",), context_problem),
    Rule("blocks", ("tensor", "expert", "slices"), ("model", "precision"), block_problem),
    Rule("servers", (*_EXPERTS, "pipeline"), ("node",), server_problem),
    Rule("engine", (*_EXPERTS, "pipeline", "spares", "shared_ranks", "context"),
         ("model", "device", "node", "precision", "engine", "engines_own"), engine_problem,
         engine_kinds),
    Rule(STAGES, ("tensor", "pipeline", "expert", "slices"), ("staged_groups",), staged_problem),
    Rule("drafts", ("pipeline", "drafts", "drafter"),
         ("device", "model", "engine", "precision", "staged_drafts", "engines_own"),
         draft_problem),
)
OF_PRECISION = (HOST_FORMAT, KERNEL)
LAID_OUT = ("division", "dealt", "blocks")  # without which there is no deployment to compute


def problems(subject: Subject, cut: Cut, kinds: Collection[str] = KINDS
             ) -> Iterator[Problem]:
    """Why a deployment is not loaded, in the order of ``KINDS``; nothing if it is. That no source
    says whether kernels run it is no reason (:func:`kernel_words`).

    Args:
        subject: the model on its cards.
        cut: how it is cut.
        kinds: that are asked for.
    """
    told_of = set()
    for rule in RULES:
        if rule.kind in kinds and rule.kind not in told_of and (
                problem := rule.problem(subject, cut)):
            told_of.add(rule.kind)
            yield problem


def precisions(subject: Subject, wanted: Precision | None = None) -> list[Precision]:
    """Precisions of the catalogue that are loaded on a card, those nearest to one first.

    Args:
        subject: the model on its cards, in whatever precision.
        wanted: as ``catalogue.deployments.precision_support.nearest`` has it.
    """
    loaded = nearest(subject.device, wanted, _on_card(subject), engine=subject.engine,
                     model=subject.model, any_engine=not subject.engines_own)
    return [entry for entry in loaded
            if host_problem(replace(subject, precision=entry), Cut()) is None]


def subject_of(scenario: Scenario) -> Subject:
    """What a deployment asks to be loaded."""
    numbers = model_inputs(scenario.model) | {
        name: value.value for name, value in scenario.mechanisms.items()
        if name in ("exchange_normal", "exchange_gathered")}
    return Subject(scenario.model, scenario.precision, scenario.device, scenario.node, numbers,
                   scenario.asked_engine, context=longest_request(scenario),
                   offload=scenario.file.offload)


def longest_request(scenario: Scenario) -> float | None:
    """Return the tokens of the longest request [token]; None where nothing states them."""
    workload = scenario.file.workload
    if workload.context_tokens:
        return workload.context_tokens.value
    if workload.input_tokens and workload.output_tokens:
        return workload.input_tokens.value + workload.output_tokens.value
    return None


def cut_of(scenario: Scenario) -> Cut:
    """How a deployment is cut."""
    spread = scenario.file.parallelism

    def stated(name: str, absent: int) -> int:
        value = getattr(spread, name)
        return int(value.value) if value else absent

    tensor, pipeline, data, expert = (int(getattr(spread, name).value) for name in DEGREES)
    drafts, method = (getattr(scenario.file.workload, key) for key in (
        "draft_tokens", "draft_method"))
    return Cut(tensor, pipeline, data, expert, stated(SLICES, 0), stated("redundant_experts", 0),
               stated(SHARED_RANKS, 0), stated(SHARED_CACHE, 1),
               int(drafts.value) if drafts else 0, DRAFTERS.index(method) if method else 0)
