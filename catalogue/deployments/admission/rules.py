"""All rules by which a deployment is loaded or not, in the order in which they are asked."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from catalogue import library
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
from catalogue.deployments.precision_support import missing_dtypes, nearest
from catalogue.deployments.scenario import Scenario, model_inputs
from catalogue.engines.released import AT
from catalogue.entries.deployments import Precision
from catalogue.entries.models import Model
from catalogue.kernels import kernel_of, kernel_problem
from catalogue.kernels.releases import nearest as replacing
from catalogue.messages import Pair, join, messages

common = messages("common")
say = messages("catalogue/deployments/admission/rules")

DTYPE, HOST_FORMAT, KERNEL = "dtype", "host_format", "kernel"
CONTEXT, STAGES = "context", "stages"
KINDS = (DTYPE, HOST_FORMAT, KERNEL, CONTEXT, "division", "dealt", "blocks", "servers",
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
        DTYPE: say("precisions-that-device-does-not"),
        HOST_FORMAT: say("precisions-made-for-experts-on"),
        KERNEL: say("precisions-that-no-release-of"),
        CONTEXT: say("requests-longer-than-model-takes"),
        "division": say("layouts-that-divide-neither-model"),
        "dealt": say("layouts-that-deal-cache-over"),
        "blocks": say("layouts-that-cut-block-of"),
        "servers": say("layouts-whose-servers-do-not"),
        "engine": say("layouts-that-no-engine-starts"),
        STAGES: say("layouts-with-pipeline-stages-of"),
        "drafts": say("layouts-tried-without-drafts-in"),
    }


def dtype_problem(subject: Subject, cut: Cut) -> Problem | None:
    """What the card's matrix unit lacks of what the precision multiplies."""
    lacking = missing_dtypes(subject.precision, subject.device, _on_device(subject))
    if not lacking:
        return None
    classes: dict[str, list[str]] = {}
    for name, dtype in lacking:
        classes.setdefault(dtype, []).append(name)
    device, precision = subject.device.name, subject.precision.id
    return told(DTYPE, "precision", lambda: say(
        "has-no-matrix-unit-for", precision=precision, device=(device["en"], device["zh"]),
        wanted=join((", ", "；"), [say(
            "dtype-for", dtype=dtype.upper(), classes=join((", ", "、"), [
                class_words()[name] for name in members])) for dtype, members in classes.items()])),
        classes=classes)


def _on_device(subject: Subject) -> list[str] | None:
    """Classes that the device multiplies; None for all."""
    offload = subject.offload
    if offload is None or offload.fetched or offload.routed_experts.value < 1:
        return None
    return [name for name in subject.precision.multiply.dtypes if name != "routed_expert"]


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


def no_kernel_problem(subject: Subject, cut: Cut) -> Problem | None:
    """A precision that no release of an engine has kernels of on the card."""
    if not subject.engines_own or dtype_problem(subject, cut):
        return None
    engine = subject.engine
    if engine and engine.partition(AT)[0] not in library.names("profiles"):
        return None  # a reader's own: nothing is known of its kernels
    asked, device, classes = subject.precision, subject.device, _on_device(subject)
    if kernel_of(asked, device, engine, model=subject.model, classes=classes) is not None:
        return None

    def words() -> Pair:
        text = kernel_problem(asked, device, engine, model=subject.model, classes=classes) or ""
        near = replacing(asked, device, engine, subject.model, classes)
        return say("no-kernel", english=text.rstrip("."), engine=engine or "", named=bool(engine),
                   device=device.id, precision=asked.id, nearest=near.id if near else "",
                   near=bool(near))

    return told(KERNEL, "precision", words)


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
    Rule(DTYPE, (), ("precision", "device", "offload"), dtype_problem),
    Rule(HOST_FORMAT, (), ("precision", "offload"), host_problem),
    Rule(KERNEL, (), ("precision", "device", "engine", "model", "engines_own", "offload"),
         no_kernel_problem),
    Rule(CONTEXT, (), ("model", "context"), length_problem),
    Rule("division", ("pipeline",), ("model",), cut_problem),
    Rule("division", (*_EXPERTS, "spares", "shared_ranks"), ("model",), cut_problem),
    Rule("dealt", ("tensor", "context"), ("model",), context_problem),
    Rule("blocks", ("tensor", "expert", "slices"), ("model", "precision"), block_problem),
    Rule("servers", (*_EXPERTS, "pipeline"), ("node",), server_problem),
    Rule("engine", (*_EXPERTS, "pipeline", "spares", "shared_ranks", "context"),
         ("model", "device", "node", "engine", "engines_own"), engine_problem, engine_kinds),
    Rule(STAGES, ("tensor", "pipeline", "expert", "slices"), ("staged_groups",), staged_problem),
    Rule("drafts", ("pipeline", "drafts"),
         ("device", "model", "engine", "staged_drafts", "engines_own"), draft_problem),
)
OF_PRECISION = (DTYPE, HOST_FORMAT, KERNEL)
LAID_OUT = ("division", "dealt", "blocks")  # without which there is no deployment to compute


def problems(subject: Subject, cut: Cut, kinds: Collection[str] = tuple(KINDS)
             ) -> Iterator[Problem]:
    """Why a deployment is not loaded, in the order of ``KINDS``; nothing if it is.

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
    loaded = nearest(subject.device, wanted, _on_device(subject), engine=subject.engine,
                     model=subject.model, any_engine=not subject.engines_own)
    return [entry for entry in loaded
            if host_problem(replace(subject, precision=entry), Cut()) is None]


def subject_of(scenario: Scenario) -> Subject:
    """What a deployment asks to be loaded."""
    numbers = model_inputs(scenario.model) | {
        name: value.value for name, value in scenario.mechanisms.items()
        if name in ("exchange_normal", "exchange_gathered")}
    return Subject(scenario.model, scenario.precision, scenario.device, scenario.node, numbers,
                   scenario.engine, context=longest_request(scenario),
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
    drafts = scenario.file.workload.draft_tokens
    return Cut(tensor, pipeline, data, expert, stated(SLICES, 0), stated("redundant_experts", 0),
               stated(SHARED_RANKS, 0), stated(SHARED_CACHE, 1),
               int(drafts.value) if drafts else 0)
