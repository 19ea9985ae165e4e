"""What would run instead of a deployment that does not, as the runtime found it by trying."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalogue.messages import Pair, messages
from notebooks.pages.catalogue.tables.deployments import quantity_label
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.families import cut
from notebooks.pages.deployments.verdicts import result
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_quantity

common = messages("common")
say = messages("pages/deployments/alternatives")

TOLD = ("ttft", "tpot", "output_throughput")


def rows(deployed: Deployed) -> list[dict[str, Any]]:
    """One row per change that makes it run, nearest first, with what it gives."""
    return [{"change": tuple(in_words(deployed, change.settings, lang) for lang in range(2)),
             "cards": fmt_int(change.devices), **_gives(deployed, change.settings)}
            for change in deployed.answer.changes]


def searched(deployed: Deployed) -> list[dict[str, Any]]:
    """What a search over the same cards found best: in its precision, in any, in the published."""
    found = deployed.alternatives
    kinds = ((say("its-own-precision"), found.own), (say("any-precision"), found.best),
             (common("published-weights"), found.official))
    return [{"kind": kind,
             "change": tuple(in_words(deployed, advice.settings, lang) or say("as-it-is")[lang]
                             for lang in range(2)),
             **_gives(deployed, advice.settings)}
            for kind, advice in kinds if advice is not None]


def _gives(deployed: Deployed, settings: dict[str, str | int]) -> dict[str, Any]:
    """What a deployment gives with other settings."""
    other = deployed.changed(settings)
    return {"spare": fmt_bytes(other.headroom), "room": fmt_quantity(other.room, "request")} | {
        name: f"{answer.text} ({answer.reach})" for name in TOLD
        if (answer := other.answers.get(name))}


def columns(deployed: Deployed, first: str = "change") -> dict[str, Pair]:
    """Headings of the table; of one that was searched, with its kind first."""
    if first == "kind":
        kept = columns(deployed)
        return {"kind": say("best-in")} | {
            name: text for name, text in kept.items() if name != "cards"}
    return {"change": common("change"), "cards": common("number-of-cards"), "spare": say("spare"),
            "room": common("requests-that-fit")} | {
        name: quantity_label(name) for name in TOLD if name in deployed.questions}


def in_words(deployed: Deployed, settings: Mapping[str, str | int], lang: int) -> str:
    """Settings in words: ``W8A8 INT8, 4 servers instead of 2, cut TP8×PP4``; empty for none."""
    if not settings:
        return ""
    other = deployed.changed(settings)
    old, new = deployed.scenario, other.scenario
    parts = []
    if new.precision.id != old.precision.id:
        parts.append(new.precision.name["en" if lang == 0 else "zh"])
    if new.devices != old.devices:
        parts.append(say("cards-instead-of", devices=fmt_int(new.devices),
                         devices_before=fmt_int(old.devices))[lang])
    if cut(new) != cut(old):
        parts.append(say("cut", new=cut(new))[lang])
    spares = other.inputs["redundant_experts"]
    if spares != deployed.inputs["redundant_experts"]:
        parts.append(say("redundant-experts", spares=fmt_int(spares))[lang])
    parts += [_workload(path, value, deployed)[lang] for path, value in settings.items()
              if path.startswith("workload.")]
    return (", ", "，")[lang].join(parts)


def _workload(path: str, value: str | int, deployed: Deployed) -> Pair:
    """A changed setting of the load beside what it was."""
    name = path.removeprefix("workload.")
    before, after = fmt_int(deployed.inputs[name]), fmt_int(float(value))
    words: dict[str, Pair] = {
        "concurrency": say("requests-at-once-instead-of", after=after, before=before),
        "context_tokens": say("context-of-tokens-instead-of", after=after, before=before),
        "max_num_batched_tokens": say("prompt-chunks-of-tokens-instead", after=after,
                                      before=before)}
    return words[name]


def full(deployed: Deployed) -> Pair:
    """What it gives with as many requests as fit, where a document promises more than it gives.

    Empty where it does not fit, where nothing is promised, or where it is full already.
    """
    most, gap = deployed.room, result(deployed)
    if (not deployed.has_room or gap is None or gap.claim.value.kind == "measured" or gap.ratio <= 1
            or most <= deployed.inputs["concurrency"] or "tpot" not in deployed.answers):
        return "", ""
    other = deployed.changed({"workload.concurrency": most})
    rate, pace = other.answers["output_throughput"], other.answers["tpot"]
    return say("filled-with-all-requests-that", most=fmt_int(most), rate=rate.text,
               reach=rate.reach, pace=pace.text)
