"""Of what a computed number is, in words: a deployment with its users and format, or a source."""

from __future__ import annotations

import functools
import re

from calc.auditing.truths import SOURCES, Truth, deployment
from calc.layouts.feasible import MEMORY
from catalogue.deployments.admission import cut_of
from catalogue.deployments.cuts import written
from catalogue.messages import LANGUAGES, Pair, messages
from catalogue.reading.amounts import human
from catalogue.reading.shared import sources

say = messages("calc/auditing/origins")

DERIVED = ("arithmetic",)  # a source that is a derivation of this book's
OF_MODELS = {"models", "formats", "precisions"}
OF_CARDS = {"devices", "links", "nodes", "mechanisms"}
LONGEST = 60  # signs of a source's title
_MAKER = re.compile(r"^\S+ (?=\S*\d)")  # before the name of a card, which tells it by itself
_NAME = re.compile(r"[(（,，]| throughout")  # behind which a format's name only explains


def origin(truth: Truth) -> Pair:
    """Where a number comes from, as the beginning of a sentence that tells it."""
    if truth.scenario is not None:
        return _for(truth.scenario)
    titled = source_of(truth)
    if titled is not None:
        return say("source-has", source=(titled, titled))
    if not truth.parts and not {"/", ":"} & set(truth.where):
        return say("on-own-inputs")
    kinds = {reference.partition("/")[0] for reference in truth.parts or (truth.where,)}
    if kinds <= {"measurements", "accuracies"}:
        return say("measured")
    if plans := [name for reference in truth.parts if ":" in reference
                 and (name := reference.partition(":")[0])]:
        return _for(plans[0])
    if kinds & {"prices", "costs"} or truth.unit.startswith("USD"):
        return say("at-prices")
    if "goals" in kinds:
        return say("searched")
    if kinds <= OF_MODELS:
        return say("from-shapes")
    return say("from-hardware") if kinds <= OF_CARDS else say("recomputed")


def _for(name: str) -> Pair:
    """That a number is computed for a deployment, be it that its memory does not suffice."""
    if deployment(name).fits:
        return say("computed-for", plan=planned(name))
    return say("computed-as-if", plan=planned(name))


def source_of(truth: Truth) -> str | None:
    """The title of the source that restates a number; None of what is computed, or of several."""
    if not truth.listed and "/" not in truth.where:
        return None
    keys = [truth.where.removeprefix(SOURCES)] if truth.where.startswith(SOURCES) else truth.sources
    listed = sources()
    titles = [listed[key]["title"] for key in keys if key in listed and key not in DERIVED]
    return None if len(titles) != 1 or len(keys) > 1 else _short(titles[0])


def _short(title: str) -> str:
    """A title without what explains it, and not too long."""
    begun = title.partition(": ")[0]
    while len(begun) > LONGEST and "," in begun:
        begun = begun.rpartition(",")[0]
    return begun if len(begun) <= LONGEST else f"{begun[:LONGEST - 1].rstrip()}…"


@functools.cache
def planned(name: str) -> Pair:
    """A deployment in a few words: cards, layout, format, users."""
    scenario = deployment(name).scenario
    users = int(scenario.inputs()["concurrency"])
    en, zh = (_NAME.split(scenario.precision.name[lang])[0].strip() for lang in LANGUAGES)
    card = {lang: _MAKER.sub("", scenario.device.name[lang]) for lang in LANGUAGES}
    layout = written(cut_of(scenario))
    return say("plan", cards=scenario.devices, card=(card["en"], card["zh"]),
               layout=(layout["en"], layout["zh"]), users=users,
               format=(en, zh))


@functools.cache
def shortage(name: str) -> Pair:
    """Why a deployment does not run, in a clause."""
    reason = deployment(name).why_not[0]
    if reason.kind != MEMORY:
        return reason.text["en"].rstrip("."), reason.text["zh"].rstrip("。")
    needed, usable = (human(reason.numbers[key], "B") for key in ("memory_per_device",
                                                                  "usable_memory"))
    return say("short-of-memory", needed=needed, usable=usable)
