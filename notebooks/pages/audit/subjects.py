"""What claims are about, and of which subjects most hold: the one sentence on what can be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from calc.auditing.judging import Audited
from calc.auditing.reasons import OF_CARDS, OF_MODELS
from catalogue.messages import Pair, join, messages
from notebooks.pages.audit.words import HOLDS, OPEN, group

common = messages("common")
say = messages("pages/audit/subjects")

MODEL, CARDS, COST = "model", "cards", "cost"
SETTINGS, ALARMS, THROUGHPUT, LATENCY, MEMORY, RATIOS = (
    "settings", "alarms", "throughput", "latency", "memory", "ratios")
SUBJECTS: dict[str, Pair] = {
    MODEL: common("model"), CARDS: say("cards-links-hosts"), SETTINGS: say("settings"),
    THROUGHPUT: common("throughput"), LATENCY: common("latency"), MEMORY: say("memory"),
    COST: common("cost"), ALARMS: say("alarms"), RATIOS: say("counts-and-ratios")}
OF_KIND = {**dict.fromkeys(OF_MODELS, MODEL), **dict.fromkeys(OF_CARDS, CARDS), "prices": COST}
OF_UNIT = {**dict.fromkeys(("token/s", "request/s"), THROUGHPUT), "s": LATENCY, "USD": COST,
           **dict.fromkeys(("B", "B/token"), MEMORY),
           **dict.fromkeys(("B/s", "FLOP/s", "FLOP/J", "J/s", "W"), CARDS)}
LEAST = 4  # claims that are decided, from which a share says something
MOST, SOME = 2 / 3, 1 / 4  # shares from which most, or some, of a subject holds


def subject(row: Audited) -> str:
    """What a claim is about: what it sets or watches, an entry that it restates, else its unit."""
    case = row.case
    if case.claim.setting is not None:
        return SETTINGS
    if case.claim.alert is not None:
        return ALARMS
    kind = case.truth.where.partition("/")[0] if case.truth else ""
    if kind in OF_KIND:
        return OF_KIND[kind]
    return OF_UNIT.get(case.printed.unit, RATIOS) if case.printed else RATIOS


def usable(rows: Sequence[Audited]) -> Pair:
    """The sentence: of which subjects most claims hold, some, hardly any, none."""
    every = Counter(map(subject, rows))
    decided = Counter(subject(row) for row in rows if group(row) != OPEN)
    held = Counter(subject(row) for row in rows if group(row) == HOLDS)
    told: dict[str, list[Pair]] = {"most": [], "some": [], "few": [], "none": []}
    for name, count in every.items():
        share = held[name] / count
        if decided[name] >= LEAST:
            level = ("most" if share >= MOST else "some" if share >= SOME else
                     "few" if share else "none")
            told[level].append(say("with-count", subject=SUBJECTS[name], held=held[name],
                                   count=count))
    of = {level: join((", ", "、"), found) for level, found in told.items()}
    parts = {"most": say("most-of", subjects=of["most"]),
             "some": say("some-of", subjects=of["some"]),
             "few": say("few-of", subjects=of["few"]),
             "none": say("none-of", subjects=of["none"])}
    parts = {level: part for level, part in parts.items() if told[level]}
    return say("what-can-be-used", held=sum(held.values()), total=len(rows),
               parts=join(("; ", "；"), parts.values()))
