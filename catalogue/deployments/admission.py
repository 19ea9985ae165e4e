"""Rules by which a deployment is admitted, in the order in which they are checked."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from catalogue.deployments.cuts import (
    EXPERTS,
    SYMBOLS,
    TENSOR,
    Cut,
    Problem,
    Rule,
    Subject,
    block_problem,
    context_problem,
    cut_problem,
    problem_of,
)
from catalogue.deployments.physics_inputs import (
    SHARED_CACHE,
    SHARED_RANKS,
    SLICES,
    joined_replicas,
    mechanisms_name,
    missing_dtypes,
    nearest,
    on_card,
)
from catalogue.deployments.profiles import Starts
from catalogue.deployments.scenario import Scenario, model_inputs
from catalogue.engine import engine_meant, fitting, has_profile
from catalogue.entries.deployments import USUAL_SOURCE, Precision
from catalogue.entries.hardware import Device
from catalogue.entries.models import DRAFTERS, Model
from catalogue.entries.profiles import in_order
from catalogue.kernels import (
    CLASS,
    Part,
    Refusal,
    Support,
    attention_kind,
    checkpoint_for,
    known_to_engines,
    support,
)
from catalogue.kernels import (
    nearest as replacing,
)
from catalogue.library import load
from catalogue.messages import Pair, capitalised, ended, join, pair, sentences

say = sentences("catalogue/deployments/admission")

SERVERS, ENGINE, DRAFTS = "servers", "engine", "drafts"
VOCABULARY_BLOCK = 64  # rows to whose multiple engines fill up the vocabulary
ATTENTION = {"sparse": "sparse latent attention", "block-sparse": "block-sparse attention",
             "csa": "compressed attention", "mla": "latent attention",
             "gqa": "grouped-query attention"}


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
    return None if fills else problem_of(
        SERVERS, TENSOR, lambda: say(
            "server-of-cards-replicas-of",
            f"a server of {cards} cards, replicas of {replica}, does not fill whole nodes of "
            f"{per_node}", cards=cards, replica=replica, per_node=per_node),
        cards=cards, replica=replica, per_node=per_node)


def engine_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why no engine that is meant starts a layout; None if one does, or nothing is known of one.

    Where no engine is named, those of the catalogue that run on the card are meant.
    """
    if not subject.engines_own:
        return None
    problems = [layout_problem(engine, subject, cut) for engine in subject.engines]
    return problems[0] if problems and all(problems) else None


def engine_kinds(subject: Subject, cuts: Mapping[str, Any]) -> tuple[Any, ...]:
    """What :func:`engine_problem` looks at: cuts that are equal in it are started alike.

    Args:
        subject: the model on its cards.
        cuts: attributes of cuts, numbers or arrays.

    Returns numbers or arrays of 0 and 1.
    """
    tensor, expert, slices = cuts["tensor"], cuts["expert"], cuts.get("slices", 0)
    left = tensor // expert
    per_expert = slices + (slices == 0) * (left + (left == 0))
    joined = joined_replicas(tensor, expert, slices)
    per_node = int(subject.node.devices_per_node.value)
    replica = tensor * cuts.get("pipeline", 1)
    return tuple(1 * looked_at for looked_at in (
        tensor > 1, expert > 1, per_expert > 1, joined > 1, replica > per_node,
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
    drafts, method, model = cut.drafts, DRAFTERS[cut.drafter], subject.model.id
    if not drafts:
        return None
    if subject.engines_own and cut.drafter and not drafted_by(subject, method):
        engine = _engines(subject)
        return problem_of(DRAFTS, "draft_method", lambda: say(
            "drafter-that-no-engine-starts",
            f"draft_method {method} of '{model}': no source shows that {engine[0]} supports "
            "it, expected the model's own layer or no drafted tokens",
            method=method, model=model, engine=engine), drafts=drafts)
    if subject.engines_own and not cut.drafter and not subject.model.drafts:
        return problem_of(DRAFTS, "draft_tokens", lambda: say(
            "drafted-tokens-no-layer-that",
            f"{drafts} drafted tokens: no MTP layer is published for '{model}', expected 0",
            drafts=drafts, model=model), drafts=drafts)
    if cut.pipeline == 1 or (subject.staged_drafts if cut.drafter else subject.stages_draft):
        return None
    return problem_of(DRAFTS, "draft_tokens", lambda: say(
        "drafted-tokens-in-pipeline-stages",
        f"{drafts} drafted tokens in {cut.pipeline} pipeline stages: not supported by "
        f"{_engines(subject)[0]}", drafts=drafts, pipeline=cut.pipeline, engine=_engines(subject)),
        drafts=drafts, stages=cut.pipeline)


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
    return next(layout_problems(engine.name, engine.starts, subject, cut), None)


def layout_problems(name: str, starts: Mapping[str, bool], subject: Subject, cut: Cut
                    ) -> Iterator[Problem]:
    """Why an engine starts no such layout, in the order in which it is asked."""
    per_expert, ep, joined = cut.slices_per_expert, cut.expert, cut.joined
    ranks = cut.tensor * joined
    experts = bool(subject.numbers["n_routed_experts"])
    if experts and ep > 1 and per_expert > 1 and not starts.get("divided_experts"):
        yield problem_of(ENGINE, SLICES if cut.slices else EXPERTS, lambda: say(
            "no-flag-cuts-experts-on",
            f"{name}: no flag cuts experts on {ep} of {ranks} ranks into {per_expert} slices, "
            f"expected whole experts, expert_parallel of {ranks}, or all in slices, of 1",
            name=name, ep=ep, ranks=ranks, each=per_expert), ranks=ranks, expert=ep)
    if experts and ep == 1 and joined > 1 and not starts.get("cut_over_replicas"):
        yield problem_of(ENGINE, SLICES, lambda: say(
            "no-flag-cuts-experts-over",
            f"{name}: no flag cuts experts over {joined} replicas, expected whole experts, "
            f"expert_parallel of {ranks}", name=name, joined=joined, ranks=ranks), ranks=ranks)
    if joined > 1 and cut.tensor > 1 and not starts.get("wide_replicas"):
        yield problem_of(ENGINE, TENSOR, lambda: say(
            "attention-is-cut-over-all",
            f"{name}: attention is cut over all {ranks} ranks of a server or over none, expected "
            f"tensor_parallel of {ranks} or 1", name=name, ranks=ranks), ranks=ranks)
    padded = padded_vocabulary(subject)
    if padded % cut.tensor and not starts.get("any_vocabulary"):
        yield problem_of(ENGINE, TENSOR, lambda: vocabulary_words(name, subject, cut.tensor),
                         parts=cut.tensor, whole=padded)
    per_node, replica = int(subject.node.devices_per_node.value), cut.tensor * cut.pipeline
    if joined > 1 and replica > per_node and not starts.get("spread_replicas"):
        yield problem_of(ENGINE, TENSOR, lambda: say(
            "replicas-of-cards-that-span",
            f"{name}: replicas of {replica} cards that span nodes share no experts, expected "
            f"replicas of at most {per_node}", name=name, tensor=replica, per_node=per_node),
            per_node=per_node)
    if cut.shared_ranks:
        yield problem_of(ENGINE, SHARED_RANKS, lambda: say(
            "no-flag-gives-ranks-to",
            f"{name}: no flag gives ranks to the shared expert alone, expected no "
            f"parallelism.{SHARED_RANKS}", name=name, shared_ranks=SHARED_RANKS))
    if cut.spares and not starts.get("spares"):
        yield problem_of(ENGINE, "redundant_experts", lambda: say(
            "has-no-redundant-experts-expected", f"{name}: has no redundant experts, expected 0",
            name=name), spares=cut.spares)
    if cut.context > 1 and not starts.get("dealt_cache"):
        sparse = bool(subject.numbers["index_topk"])
        of = "for models with an indexer " if sparse else ""
        yield problem_of(ENGINE, SHARED_CACHE, lambda: say(
            "deals-no-cache-over-ranks",
            f"{name}: does not support {SHARED_CACHE} {of}on these cards, expected 1",
            name=name, shared_cache=SHARED_CACHE, sparse=sparse), ranks=cut.context)


def vocabulary_words(engine: str, subject: Subject, tensor: int) -> Pair:
    """Return that a tensor parallel size does not divide the padded vocabulary, a clause."""
    padded, stated = f"{padded_vocabulary(subject):,}", f"{subject.numbers['vocab_size']:,.0f}"
    return say("vocabulary-not-dealt",
               f"{engine}: tensor_parallel of {tensor} does not divide the vocabulary of "
               f"'{subject.model.id}', {stated} filled up to {padded} (a multiple of "
               f"{VOCABULARY_BLOCK})", name=engine, tp=tensor, padded=padded, stated=stated,
               block=VOCABULARY_BLOCK, of=subject.model.id)


common = sentences("common")

HOST_FORMAT, KERNEL = "host_format", "kernel"
CONTEXT, STAGES = "context", "stages"
KINDS = (HOST_FORMAT, KERNEL, CONTEXT, "division", "dealt", "blocks", "servers",
         "engine", STAGES, "drafts")
"""Why nothing loads it, in the order in which it is asked; in words: :func:`kind_words`."""


@cache
def class_words() -> dict[str, Pair]:
    """Of classes of tensors, as a precision names them."""
    return {
        "attention": common("attention-projections", "attention projections"),
        "core": common("attention-core", "attention core"),
        "index": say("scores-of-indexer", "scores of the indexer"),
        "dense_mlp": common("dense-mlp", "dense MLP"),
        "shared_expert": common("shared-experts", "shared experts"),
        "router": common("router", "router"),
        "routed_expert": common("routed-experts", "routed experts"),
        "head": common("output-head", "output head"),
    }


@cache
def kind_words() -> dict[str, Pair]:
    """Of ``KINDS``, what is left out so."""
    english = {
        HOST_FORMAT: "precisions made for experts on CPUs",
        KERNEL: "precisions that engines refuse on the card",
        CONTEXT: "requests longer than the model takes",
        "division": "layouts that do not divide the model or the cards evenly",
        "dealt": "layouts that divide a cache among ranks that hold no copy of it",
        "blocks": "layouts that cut a block of scales",
        SERVERS: "layouts over several instances or nodes that leave cards of a node unused",
        ENGINE: "layouts that no engine starts",
        STAGES: "layouts with pipeline stages whose data-parallel ranks divide the experts (EP "
                "above TP): the closed form does not hold",
        DRAFTS: "layouts not tried with MTP drafts: not every engine of the card drafts across "
                "pipeline stages, or the model has no MTP layer"}
    return {kind: say("kind", english[kind], name=kind) for kind in KINDS}


def lacking_words(subject: Subject) -> Pair | None:
    """What the card's matrix unit lacks of what the precision multiplies, a clause, if anything."""
    device, precision = pair(subject.device.name), subject.precision.id
    classes: dict[str, list[Pair]] = {}
    for name, dtype in missing_dtypes(subject.precision, subject.device, _on_card(subject)):
        classes.setdefault(dtype.upper(), []).append(class_words()[name])
    if not classes:
        return None
    listed = {dtype: join((", ", "、"), members) for dtype, members in classes.items()}
    wanted = join((", ", "；"), [say("dtype-for", f"{dtype} for {names[0]}", dtype=dtype,
                                    classes=names) for dtype, names in listed.items()])
    return say("has-no-matrix-unit-for",
               f"{device[0]} has no matrix unit for what {precision} multiplies: {wanted[0]}. "
               "Times are those of weights widened to 16 bits",
               precision=precision, device=device, wanted=wanted)


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
    return problem_of(HOST_FORMAT, "precision", lambda: say(
        "experts-of-are-stored-in",
        f"experts of {of} are stored in '{stored}', which only CPU kernels read; no engine "
        "computes with it on the card", of=of, stored=stored), stored=stored)


def refused_problem(subject: Subject, _: Cut) -> Problem | None:
    """A precision that the engine refuses on the card, or every engine that starts there."""
    if not subject.engines_own:
        return None
    support = _supported(subject)
    if support.verdict != "refuses":
        return None
    return problem_of(KERNEL, "precision", lambda: refusal_words(subject, support),
                sources=[refusal.source for refusal in support.refusals])


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
    support, lacking = _supported(subject), lacking_words(subject)
    engine, card, cards = subject.engine, subject.device.id, mechanisms_name(subject.device)
    if support.verdict == "unknown" and not known_to_engines(subject.device):
        begun = (f"it is not known whether {engine} runs on '{card}'; computed with its overheads "
                 "and" if engine else
                 f"no kernels of an engine are known for '{card}'; computed with")
        parts = [say("no-engine-known",
                     f"{begun} the kernels of the class '{cards}', in wide ranges",
                     device=card, cards=cards, named=bool(engine), engine=engine or ""), lacking]
    elif support.verdict == "unknown":
        parts = [_unknown_words(subject, support), lacking]
    elif support.kernel and (lacking or support.kernel.widened):
        parts = [lacking, support.kernel.words]
    else:
        return None
    return join((". ", "。"), map(capitalised, filter(None, parts)))


def _unknown_words(subject: Subject, support: Support) -> Pair:
    """Return that no source says whether a precision runs, a clause."""
    model, precision, card = subject.model.id, subject.precision.id, subject.device.id
    engine, cards, near = subject.engine, mechanisms_name(subject.device), _replacement(subject)
    unknown = join((", ", "、"), [_part_words(part, subject) for part in support.unknown])
    instead = f". The nearest that is known to run here is {near}" if near else ""
    return say("no-source",
               f"no source says whether {engine or 'any engine'} runs {model} in {precision} on "
               f"'{card}' ({unknown[0]}); computed with the kernels of '{cards}'{instead}",
               model=model, engine=engine or "", named=bool(engine), precision=precision,
               device=card, cards=cards, parts=unknown, near=bool(near), nearest=near)


def refusal_words(subject: Subject, support: Support) -> Pair:
    """Who refuses what, and what runs there instead."""
    model, precision, card = subject.model.id, subject.precision.id, subject.device.id
    near, refused = _replacement(subject), {one.engine: one for one in support.refusals[::-1]}
    refusals = join(("; ", "；"), [_refused_words(one, subject) for one in refused.values()])
    instead = f". The nearest that runs here is {near}" if near else ""
    return say("refuses",
               f"on '{card}' {model} does not run in {precision}. {refusals[0]}{instead}",
               model=model, precision=precision, device=card, refusals=refusals, near=bool(near),
               nearest=near)


def _refused_words(refusal: Refusal, subject: Subject) -> Pair:
    """Return which engine refuses what, with its source."""
    released, part = refusal.release is not None, _part_words(refusal.part, subject)
    engine = f"{refusal.engine} {refusal.release}" if released else refusal.engine
    what = f"{part[0]}: " if refusal.part else ""
    return say("refused", f"{engine}: {what}{refusal.why[0]} [{refusal.source}]",
               engine=refusal.engine, release=refusal.release or "", released=released,
               whole=refusal.part is None, part=part, why=refusal.why, source=refusal.source)


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
        return say("part-class", f"its class {part.stored} is in none of the releases read",
                   stored=part.stored)
    dtype = part.multiplied.upper()
    if part.name == "cache":
        kind = attention_kind(subject.model)
        return say("part-cache",
                   f"{ATTENTION[kind]} over a cache in {part.stored}, multiplied in {dtype}",
                   kind=kind, stored=part.stored, dtype=dtype)
    name = class_words()[part.name]
    return say("part", f"{name[0]} in {part.stored}, multiplied in {dtype}",
               name=name, stored=part.stored, dtype=dtype)


def length_problem(subject: Subject, _: Cut) -> Problem | None:
    """Requests that are longer than the positions that the model knows."""
    longest, most = subject.context, positions(subject.model)
    if longest is None or not too_long(longest, most):
        return None
    return problem_of(CONTEXT, "context_tokens", lambda: length_words(longest, subject.model),
                asked=longest, most=most)


def length_words(tokens: float, model: Model) -> Pair:
    """Return the sentence that refuses requests of so many tokens, without its stop."""
    context, most = f"{tokens:,.0f}", f"{positions(model):,.0f}"
    return say("requests-of-tokens-are-longer",
               f"requests of {context} tokens are longer than the {most} positions of "
               f"'{model.id}', expected at most {most} for prompt and answer together "
               "(input_tokens + output_tokens, or context_tokens)",
               context=context, most=most, of=model.id)


def positions(model: Model) -> float:
    """Return the positions of a model [token]; infinite where nothing states them."""
    stated = model.max_position_embeddings
    return math.inf if stated is None else stated.value


def too_long(tokens: Any, limit: Any) -> Any:
    """Return whether requests are longer than the positions of a model; an array for arrays.

    Args:
        tokens: of prompt and answer together [token].
        limit: positions of the model [token].
    """
    return tokens > limit


def staged_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Ranks that share experts, and so step together, cut into pipeline stages.

    With prompts beside decode the closed form of their steady state is too fast near saturation,
    held against the simulation.
    """
    if subject.staged_groups or cut.pipeline == 1 or cut.expert * max(1, cut.slices) <= cut.tensor:
        return None
    return problem_of(STAGES, "pipeline_parallel", lambda: say(
        "pipeline-stages-of-ranks-that",
        f"{cut.pipeline} pipeline stages of ranks that share experts: the closed form of their "
        "steady state does not hold", pipeline=cut.pipeline), stages=cut.pipeline)


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
        wanted: as ``catalogue.deployments.physics_inputs.nearest`` has it.
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
    stated, method = scenario.stated_values, scenario.file.workload.draft_method
    return Cut(**{name: int(stated[symbol].value) for name, symbol in SYMBOLS.items()
                  if symbol in stated}, drafter=DRAFTERS.index(method) if method else 0)




def announced(cards: Iterable[Device | str]) -> Pair | None:
    """Which of the cards of an answer are only announced: a sentence each, in English and in
    Chinese; None where all are sold.

    Args:
        cards: entries, or their names or files.
    """
    entries = {card.id: card for card in map(_entry, cards) if card.announced}
    notes = [say("only-announced",
                 f"'{card.id}' is only announced ({card.announced.date}): its numbers are "
                 "announced by its vendor or assumed, its speed was not measured, and the card "
                 "that is sold may differ.", device=card.id, date=str(card.announced.date))
             for card in entries.values() if card.announced]
    return join((" ", ""), notes) if notes else None


def underived(models: Iterable[Model | str]) -> Pair | None:
    """What no formula has of the models of an answer: a sentence each; None where all is derived.

    Args:
        models: entries, or their names or files.
    """
    entries: dict[str, Model] = {model.id: model for model in (
        load("models", item) if isinstance(item, str) else item for item in models)}
    notes = [say("not-derived",
                 f"{model.name['en']} is not derived in full. {model.missing['en']}",
                 name=pair(model.name), missing=pair(model.missing))
             for model in entries.values() if model.missing]
    return join((" ", ""), notes) if notes else None


def caveats(scenarios: Collection[Scenario]) -> dict[str, Pair]:
    """Notes of the catalogue on an answer by key: ``announced``, ``missing``, ``unsourced``."""
    notes = {"announced": announced(scenario.device for scenario in scenarios),
             "missing": underived(scenario.model for scenario in scenarios),
             "unsourced": unsourced(scenarios)}
    return {key: note for key, note in notes.items() if note}


def unsourced(scenarios: Iterable[Scenario]) -> Pair | None:
    """What is computed of an engine and its kernels without a source, a sentence each; None where
    all has one.

    Args:
        scenarios: deployments of an answer.
    """
    notes: list[Pair | None] = []
    for scenario in scenarios:
        if scenario.running is not None:
            notes.append(borrowed(scenario.running.stated, scenario.running.name))
        if words := kernel_words(subject_of(scenario)):
            notes.append(ended(words))
        if undescribed := usual_of_card(scenario):
            device, type_, names = scenario.device.id, scenario.device.type.upper(), ", ".join(
                undescribed)
            notes.append(say("usual-of-type", f"'{device}' does not state {names}: usual values of "
                             f"{type_}s are taken, in wide ranges.",
                             device=device, type=type_, names=names))
    return join((" ", ""), list(dict.fromkeys(filter(None, notes)))) if any(notes) else None


def usual_of_card(scenario: Scenario) -> list[str]:
    """Keys of a card that its file does not state, for which what is usual of its type stands."""
    stated = {key: getattr(scenario.device, key) for key in (
        "hbm_efficiency", "runtime_reserve", "system_reserve")}
    link = load("links", scenario.node.device_link).device_bandwidth
    return [key for key, value in (stated | {"node": link}).items()
            if value is not None and value.source == USUAL_SOURCE]


def borrowed(requested: str, nearest: str) -> Pair | None:
    """That a release that is not in the catalogue is answered by its neighbour; None where it is.

    Args:
        requested, nearest: an engine with its release, as it is asked for and as it is known.
    """
    if requested == nearest:
        return None
    return say("nearest-release",
               f"{requested} is not in the catalogue: flags and behaviour are those of {nearest}, "
               "the nearest release that is.", asked=requested, known=nearest)


def marked(card: Device | str, called: Pair | None = None) -> Pair:
    """A card's name in a row of an answer, with a mark where it is only announced.

    Args:
        card: its entry, or its name or file.
        called: what stands for its name; None for that of its entry.
    """
    name = called or ((card, card) if isinstance(card, str) else (card.id, card.id))
    if not _entry(card).announced:
        return name
    return say("marked", f"{name[0]} (announced)", device=name)


def _entry(card: Device | str) -> Device:
    entry: Device = load("devices", card) if isinstance(card, str) else card
    return entry
