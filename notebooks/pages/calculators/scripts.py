"""The two scripts that are made when the book is built: generated formulas, and their inputs."""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from calc import uncertainty
from calc.costing.ownership import card_hour
from calc.evidence.classes import (
    REPORTED,
    axis_label,
    discrepancy,
    errors_of,
    grown_without,
    growth_under,
    inside_words,
    ladder,
    of_maker,
    ranges,
    within,
)
from calc.layouts.layout import MOST_STAGES
from catalogue import (
    load,
    load_model,
    load_precision,
    model_inputs,
    sources,
)
from catalogue.deployments.admission import class_words, marked, padded_vocabulary, positions
from catalogue.deployments.cuts import Subject
from catalogue.deployments.physics_inputs import scale_up_domain
from catalogue.deployments.scenario import unasked
from catalogue.entries.calibrations import ALONE, CONCURRENT, Load
from catalogue.entries.formulas import symbols_of
from catalogue.entries.operation import OWNERSHIPS
from catalogue.messages import by_language, messages
from catalogue.planning import Question
from catalogue.reading import words
from catalogue.reading.values import LARGEST, SMALLEST
from notebooks.derive.formulas.exported import ordered
from notebooks.derive.formulas.javascript import HELPERS, function
from notebooks.pages.calculators import views
from notebooks.pages.calculators.extras import MOST, extras, otherwise
from notebooks.pages.calculators.layouts import loaded
from notebooks.pages.calculators.offers import (
    ASSUMED,
    AT,
    AXES,
    DRAFTS,
    FORMATS_OF,
    MODELS,
    MOST_CARDS,
    NO_ENGINE,
    SIZES,
    block,
    card_and_node,
    cards,
    cores_of,
    drafts,
    engines,
    formats_of,
    per_node,
    precisions,
    sort_of,
    subject,
    usual,
)
from notebooks.pages.calculators.table import CLASS, SET, Axes, columns, gathering, switched
from notebooks.pages.calculators.words import dictionaries
from notebooks.pages.catalogue.tables import hardware
from notebooks.pages.catalogue.tables.deployments import HIDDEN, HIDES, PARTS

say = messages("pages/calculators/scripts")

YOURS = "yours"
# tokens of a step, those of deployments of the book among them, and of a block of the cache
CHUNKS = (164, 240, 1024, 2048, 4096, 8192, 10240, 16384, 32768, 65536)
BLOCKS = (1, 16, 32, 64, 128, 256)
COMPRESSED = MODELS[0]  # of whose entries an engine's kernels take blocks of one size
# of the standard question one answer: R1 as published on one server, in the fastest layout there
FLAGSHIP = {"card": "nvidia-h200-sxm", "model": "deepseek-v3", "precision": "fp8-block"}
CACHES = {"dense": FLAGSHIP["model"], "sparse": "deepseek-v3.2"}  # by whether an indexer selects
LAYOUT = {"tp": 8, "ep": 8, "drafts": 1}
PERCENT, TENTHS = 100, 1
STARTS = {"d": "divided_experts", "w": "wide_replicas", "n": "spread_replicas",
          "c": "dealt_cache", "v": "any_vocabulary"}
"""Letter -> what an engine starts, by ``catalogue.entries.profiles.Starting``."""
HOUR = "USD/h"
PACE = 50  # wanted time per token [ms], until a reader says another
PHASES: dict[str, tuple[Load, Collection[str]]] = {  # of requests, or what a pool does alone
    "whole": (CONCURRENT, ()), "decode": (ALONE, unasked({"separate_pools": 1})),
    "prefill": (ALONE, unasked({"separate_pools": 0, "output_tokens": 1}))}
BEGIN = "globalThis.willItFit ??= {};\n"


def question() -> Question:
    """The standard question, which the calculators begin with."""
    found: Question = load("questions", "serve")
    return found


def start() -> dict[str, Any]:
    """The state that the calculators begin with: the standard question of R1 on one server."""
    asked = question()
    used = round(PERCENT / load("loads", asked.day).peak, TENTHS)
    return usual(**FLAGSHIP) | LAYOUT | {
        "users": asked.users, "input": asked.demand.input_tokens,
        "output": asked.demand.output_tokens, "vary": asked.demand.length_variation or 0,
        "pace": PACE, "way": asked.ownership, "price": 0, "use": used}


def fields() -> dict[str, dict[str, Any]]:
    """What a state may hold by field: one of a list, or a number within a range."""
    whole = {"step": 1}
    return {
        "card": {"of": "ids", "from": "cards"}, "model": {"of": "ids", "from": "models"},
        "precision": {"of": "ids", "from": "precisions"},
        "engine": {"of": "ids", "from": "engines"},
        **{key: {"of": SIZES} for key in ("tp", "pp", "dcp")},
        **{key: {"low": 1, "high": SIZES[-1], **whole} for key in ("dp", "ep")},
        "users": {"low": 1, "high": 32768, **whole},
        "input": {"low": 1, "high": 2**20, **whole},
        "output": {"low": 1, "high": 65536, **whole},
        "vary": {"low": 0, "high": 3}, "pace": {"low": 1, "high": 10000},
        "drafts": {"of": DRAFTS}, "chunk": {"of": CHUNKS}, "block": {"of": BLOCKS},
        "share": {"low": 10, "high": 100}, "way": {"of": (*OWNERSHIPS, YOURS)},
        "price": {"low": 0, "high": 1000}, "use": {"low": 1, "high": 100}}


def operators() -> list[dict[str, str]]:
    """The operators of a step with their names."""
    return [{"key": name, "en": en, "zh": zh} for name, (en, zh) in class_words().items()]


def _name(entry: Any) -> dict[str, str]:
    return {lang: words.revealed(str(entry.name[lang])) for lang in ("en", "zh")}


def _cards() -> dict[str, Any]:
    found = {}
    for name in cards():
        card, node = card_and_node(name)
        prices = {}
        for way in OWNERSHIPS:
            hour = card_hour(card.id, way)
            if hour is not None and hour.currency == "USD":
                value, low, high = hour.per(HOUR)
                title = sources().get(hour.source, {}).get("title", hour.source)
                prices[way] = {"value": value, "low": low, "high": high,
                               "source": words.revealed(f"{title}, {hour.date}")}
        name_of = _name(card)
        told = by_language(marked(card, (name_of["en"], name_of["zh"])))
        called = {lang: f"{each} · {_name(node)[lang]}" if AT in name else each
                  for lang, each in told.items()}
        found[name] = {
            "name": called, "device": card.id,
            "node": node.id, "perNode": per_node(name),
            "domain": scale_up_domain(node), "die": hardware.dies_of(card.id) > 1,
            "block": block(name, FLAGSHIP["model"], NO_ENGINE),
            "blocks": {engine: block(name, COMPRESSED, engine) for engine in engines(name)},
            "precisions": precisions(name),
            "own": {of: precisions(name, model) for of, model in FORMATS_OF.items()},
            "engines": engines(name), "prices": prices,
            "starts": {kind: {engine: _starts(name, engine, of) for engine in engines(name)}
                       for kind, of in CACHES.items()},
            "staged": [engine for engine in engines(name) if _under(name, engine).stages_draft]}
    return found


def _starts(card: str, engine: str, model: str) -> list[str]:
    """What an engine starts of a model on a card, a letter each; of none named, that of each one
    that runs there. Nothing where nothing is known of one."""
    return ["".join(letter for letter, name in STARTS.items() if each.starts.get(name))
            for each in _under(card, engine, model).engines]


def _under(card: str, engine: str, model: str = FLAGSHIP["model"]) -> Subject:
    """A model of the calculators on a card under an engine, if one is named."""
    return replace(subject(card, model),
                   engine=None if engine == NO_ENGINE else engine)


def _models(axes: Axes, stored: list[str]) -> dict[str, Any]:
    sorts = {sort_of(name): name for name in axes.of("model")}
    shown = frozenset[str]().union(*map(views.input_symbols, views.ATTENTIONS))
    found = {}
    for name in MODELS:
        model, shapes = load_model(name), model_inputs(load_model(name))
        found[name] = {
            "name": _name(model), "attention": model.attention, "sort": sorts[sort_of(name)],
            "positions": min(positions(model), LARGEST),
            "vocabulary": padded_vocabulary(subject(FLAGSHIP["card"], name)),
            "layers": shapes["num_hidden_layers"], "experts": bool(model.is_moe),
            "formats": formats_of(name), "cores": cores_of(name),
            "weights": model.weights and model.weights.precision,
            "heads": 1 if model.attention == "mla" else max(
                shapes[f"{kind}num_key_value_heads"] for kind in ("", "window_")),
            "indexed": bool(model.index_topk) and model.attention != "mla",
            "cache": "sparse" if model.index_topk else "dense",
            "routed": shapes["n_routed_experts"], "shared": shapes["n_shared_experts"],
            "drafts": drafts(model),
            "loaded": {each: loaded(name, each) for each in stored},
            "shapes": {key: value for key, value in shapes.items() if key in shown}}
    return found


def measured(classes: Iterable[str]) -> dict[str, Any]:
    """What was measured of each class, and how errors grow with the distance from it.

    Args:
        classes: of deployments, as ``class_of`` names them.
    """
    stored = discrepancy()
    covered: list[Any] = []
    runs: list[Any] = []

    def place(rows: list[Any], row: Any) -> int:
        if row not in rows:
            rows.append(row)
        return rows.index(row)

    known = {name: {"covered": place(covered, ranges(
        within(ladder(of_maker(name)), stored.measured)[1].values()))} | {
            phase: place(runs, _runs(name, *asked)) for phase, asked in PHASES.items()}
        for name in classes}
    return {"growth": {load: {name: grown_without(growth_under(stored.growth, load), name, "")
                              for name in views.MEASURED} for load in (CONCURRENT, ALONE)},
            "classes": known, "covered": covered, "runs": runs,
            "axes": {name: by_language(axis_label(name)) for name in covered[0]}}


def _runs(name: str, load: Load, without: Collection[str]) -> dict[str, Any]:
    """Measured runs that say how sure a class's answers are: in a sentence, and by quantity the
    class that they are of, systems, rows, and rows inside of their intervals."""
    own = {quantity: each for quantity, each in errors_of(name, load).items()
           if quantity in REPORTED and quantity not in without}
    return by_language(inside_words(own)) | {
        quantity: (each.of, each.systems, each.rows, each.inside) for quantity, each in own.items()}


def data() -> dict[str, Any]:
    """Everything that the calculators know, as plain data."""
    axes = Axes.of_offers()
    stored, running = list(axes.of("precision")), list(axes.of("engine"))
    every = columns(axes)
    classes = next(column.values for column in every if column.name == CLASS)
    return {
        "axisNames": AXES, "axes": axes.values, "set": SET, "sizes": SIZES,
        "columns": [column.as_json() for column in every],
        "switched": {way: [column.as_json() for column in moved]
                     for way, moved in switched(axes).items()},
        "gathers": gathering(axes).as_json(),
        "extras": {name: extra.as_json() for name, extra in extras().items()},
        "otherwise": otherwise(), "most": MOST, "smallest": SMALLEST, "largest": LARGEST,
        "constants": {"normal90": uncertainty.NORMAL_90, "halfMean": uncertainty.HALF_MEAN,
                      "curved": uncertainty.CURVED, "evenly": uncertainty.EVENLY.tolist(),
                      "power": uncertainty.POWER, "spreading": uncertainty.SPREADING,
                      "smallest": uncertainty.SMALLEST},
        "measured": measured(map(str, classes)), "ranged": views.RANGED, "steady": views.STEADY,
        "drafting": question().draft_tokens, "stages": MOST_STAGES, "mostCards": MOST_CARDS,
        "money": views.MONEY, "floor": views.FLOOR,

        "cards": _cards(), "models": _models(axes, stored),
        "precisions": {name: {"name": _name(load_precision(name))} for name in stored},
        "engines": {name: {"name": by_language(say("not-named")) if name == NO_ENGINE
                           else _name(load("profiles", name))} for name in running},
        "memory": [{"key": name} for part in views.memory_parts()
                   if (name := part.removeprefix("memory_")) != "over"],
        "step": [*({"en": en, "zh": zh, "of": of} for (en, zh), of in PARTS.items()),
                 {"en": HIDES[0], "zh": HIDES[1], "of": HIDDEN}],
        "operators": operators(),
        "fields": fields(), "usual": start() | {"set": {}}, "source": ASSUMED["source"],
        "words": dictionaries()}


@functools.cache
def formulas() -> str:
    """The script with every formula that the calculators take, as functions of slots."""
    names: dict[str, int] = {}
    needs = {attention: frozenset((name, frozenset(symbols_of(tree)))
                                  for name, tree in views.trees(attention).items())
             for attention in views.ATTENTIONS}
    wanted = dict.fromkeys(
        name for attention in views.ATTENTIONS
        for name in ordered(needs[attention], tuple(views.calculator_quantities())))

    def slot(name: str) -> str:
        return f"v[{names.setdefault(name, len(names))}]"

    every: dict[str, int] = {}  # formulas that kinds of attention share stand there once
    programs = []
    for attention in views.ATTENTIONS:
        trees = views.trees(attention)
        lines = []
        for name in ordered(needs[attention], tuple(wanted)):
            body = function(trees[name], slot)
            uses = sorted(names[used] for used in symbols_of(trees[name]))
            place = names.setdefault(name, len(names))
            lines.append(f"[{place}, {body}, {json.dumps(uses, separators=(',', ':'))}],")
        chosen = [every.setdefault(line, len(every)) for line in lines]
        programs.append(f"{attention}: {json.dumps(chosen, separators=(',', ':'))},")
    return (f'"use strict";\n{BEGIN}(() => {{\n{HELPERS}\n'
            "const every = [\n" + "\n".join(every) + "\n];\n"
            f"willItFit.formulas = {{ names: {json.dumps(list(names))}, programs: {{\n"
            + "\n".join(programs) + "\n} };\nconst { programs } = willItFit.formulas;\n"
            "for (const kind of Object.keys(programs))\n"
            "  programs[kind] = programs[kind].map((at) => every[at]);\n})();\n")


def table() -> str:
    """The script with what the formulas are computed from."""
    text = json.dumps(data(), ensure_ascii=False, separators=(",", ":"))
    return f'"use strict";\n{BEGIN}willItFit.data = {text};\n'

