"""What documents say of settings, scripts, features and engines, beside what is known of each."""

from __future__ import annotations

from collections.abc import Iterator

import catalogue
from catalogue.engine import engine_names, load_engine
from catalogue.ledger import Settings, Stated
from catalogue.messages import Pair, join, messages, pair
from catalogue.reading.words import revealed
from notebooks.show.display import cited, markdown, section, table
from notebooks.show.documents import link

common = messages("common")
say = messages("pages/catalogue/stated")

STATES: dict[str, Pair] = {
    "works": say("as-stated"), "usual": say("no-difference"),
    "unread": say("not-read"), "stops": say("does-not-start"),
    "worse": say("worse-than-default"), "misses": say("misses-its-purpose"),
    "wrong": say("not-so"), "open": say("depends")}
FAMILIES: dict[str, Pair] = {"cuda": ("NVIDIA", "NVIDIA"), "rocm": ("AMD", "AMD"),
                             "cann": say("ascend")}
NOTHING = "–"


def stated(subject: str) -> list[Stated]:
    """What documents say on a subject, an entry of ``params/settings/``."""
    settings: Settings = catalogue.load("settings", subject)
    return settings.settings


def state_count(subject: str, *states: str) -> int:
    """How many of a subject are in one of these states."""
    return sum(each.state in states for each in stated(subject))


def stated_table(subject: str, folded: Pair | None = None) -> None:
    """A row per setting: where it stands, what becomes of it, why.

    Args:
        subject: an entry of ``params/settings/``.
        folded: title under which the table is folded, if it is.
    """
    rows = [{"what": _called(each), "where": place(each), "state": STATES[each.state],
             "note": _noted(each)} for each in stated(subject)]
    table(rows, {"what": common("setting"), "where": say("where"),
                 "state": common("verdict"), "note": say("why")}, folded=folded)
    _sources(subject)


def feature_table() -> None:
    """Features that documents list, with what stands for each in the releases of vLLM."""
    engine = load_engine("vllm")
    newest = engine.versions[-1]
    rows = []
    for each in stated("features"):
        entries = [engine.lookup(revealed(name)) for name in each.entries]
        state = entries[-1].at(newest)
        given = None if state is None else state.default
        rows.append({
            "what": _called(each), "where": place(each),
            "entries": "<br>".join(
                f"`{entry.name}` {entry.since} – {entry.until or ''}".rstrip()
                for entry in entries),
            "default": NOTHING if given is None else f"`{given}`",
            "state": STATES[each.state], "note": _noted(each)})
    table(rows, {"what": say("feature"), "where": say("where"), "entries": say("name-in-vllm"),
                 "default": say("default-in-release", newest=newest),
                 "state": common("verdict"), "note": say("why")}, wide=True)


def runs_table() -> None:
    """Engines that documents name, on which cards they run, and what of them is known here."""
    rows = []
    for each in stated("engines"):
        row = {"what": _called(each), "where": place(each), "state": STATES[each.state],
               "note": _noted(each), **dict.fromkeys((*FAMILIES, "read", "ran"), NOTHING)}
        for name in each.entries:
            row |= _known(revealed(name))
        rows.append(row)
    table(rows, {"what": say("document-has"), "where": say("where"), **FAMILIES,
                 "read": say("releases-read"), "ran": say("measured-with-deepseek-model-on"),
                 "state": common("verdict"), "note": say("why")}, wide=True)


def _known(name: str) -> dict[str, str | Pair]:
    """Cards, releases and measured cards of an engine that has a profile."""
    profile = catalogue.load("profiles", name)
    versions = (load_engine(profile.flags).versions if profile.flags in engine_names()
                else tuple(profile.releases))
    cards = sorted(set(_cards(name)))
    return {**{family: common("yes") if family in profile.stacks else common("not-supported")
               for family in FAMILIES},
            "read": f"{versions[0]} – {versions[-1]}",
            "ran": join((", ", "、"), cards) if cards else NOTHING}


def _cards(engine: str) -> Iterator[Pair]:
    """Cards on which a deployment under an engine was measured, with latent attention."""
    for family in map(catalogue.load_family, catalogue.names("scenarios")):
        for one in family.deployments:
            if (one.measured and one.running and one.running.profile.id == engine
                    and one.model.attention == "mla"):
                yield pair(one.device.name)


def place(each: Stated) -> Pair:
    """Document, section and line, and the claim where there is one."""
    sections = each.section.split(", ")
    return say("place", document=each.document.upper(), line=each.line,
               section=join((", ", ", "), map(section, sections)),
               claim=f"<br>{link(each.claim)}" if each.claim else "")


def _called(each: Stated) -> Pair:
    """What it is called, with its value; a text of a file may stand in a tag, not in backticks."""
    value = "" if each.value is None else f"<br><code>{each.value}</code>"
    if each.name is not None:
        return (f"<code>{each.name}</code>{value}",) * 2
    assert each.what is not None
    return each.what["en"] + value, each.what["zh"] + value


def _noted(each: Stated) -> Pair:
    return each.note["en"], each.note["zh"]


def _sources(subject: str) -> None:
    """What the settings of a subject were held against."""
    keys = dict.fromkeys(each.source for each in stated(subject) if each.source)
    if keys:
        found = list(map(cited, keys))
        markdown(*say("held-against", sources=("; ".join(found), "；".join(found))))
