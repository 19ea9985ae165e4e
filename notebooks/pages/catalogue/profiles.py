"""What engines do to a deployment, release by release: the profiles as a table with sources."""

from __future__ import annotations

from collections.abc import Iterator

import catalogue
from catalogue.deployments.profiles import load_profile
from catalogue.entries.profiles import Profile, Statement
from catalogue.messages import Pair, join, messages
from catalogue.reading.values import Value
from notebooks.pages.catalogue.dated import as_of
from notebooks.pages.catalogue.tables.mechanisms import labelled
from notebooks.show.display import Footnotes, table, written

common = messages("common")
say = messages("pages/catalogue/profiles")

SCHEDULING: Pair = say("how-step-is-filled")
VALUES: dict[str, Pair] = {"mixed": say("prompts-and-decodes-together"),
                           "prefill-first": say("prompts-first"),
                           "True": common("yes"), "False": common("not-supported")}
STAGED: Pair = say("drafts-in-pipeline-stages")
GRAPHS: Pair = say("decode-as-captured-graph")
SWITCHED: dict[str, Pair] = {"True": say("by-default"), "False": say("not-by-default")}
DRAFTS: dict[bool, Pair] = {True: say("with-drafts"), False: say("without-drafts")}
ATTENTIONS: dict[str, Pair] = {"mla": ("MLA", "MLA"), "gqa": ("GQA", "GQA"),
                               "csa": ("CSA", "CSA"),
                               "sparse": say("sparse-attention"),
                               "sparse-gqa": say("sparse-attention-of-groups"),
                               "heavy": say("heavily-compressed-entries")}
EXCHANGES: dict[str, Pair] = {
    "low_latency": say("low-latency-all-to-all"), "normal": say("normal-all-to-all")}
FOLDED = common("show-table-it-can-be")


def profile_table() -> None:
    """Every statement of every profile: for which releases, cards and models, with its source."""
    notes = Footnotes()
    table([row for name in catalogue.names("profiles")
           for profile in [load_profile(name)] for row in _rows(profile, notes)],
          {"engine": common("engine"), "releases": common("releases"),
           "holds": say("holds-of"), "what": common("what"),
           "value": common("value-range"), "source": common("source")},
          sortable=True, folded=FOLDED)
    notes.show(folded=say("where-values-come-from"))
    as_of(*(load_profile(name) for name in catalogue.names("profiles")))


def _rows(profile: Profile, notes: Footnotes) -> Iterator[dict[str, Pair | str]]:
    for statement in profile.statements:
        shared: dict[str, Pair | str] = {
            "engine": (profile.name["en"], profile.name["zh"]),
            "releases": _releases(profile, statement), "holds": _holds(statement)}
        ways = {SCHEDULING: statement.scheduling, STAGED: statement.staged_drafts,
                GRAPHS: statement.graphs}
        for what, chosen in ways.items():
            if chosen is not None:
                words = SWITCHED if what == GRAPHS else VALUES
                stated = Value(1, "1", str(chosen.value), chosen.source, chosen.kind, 1, 1,
                               chosen.date, note=chosen.note)
                yield shared | {"what": what, "value": words[str(chosen.value)],
                                "source": notes.mark(stated)}
        known = catalogue.symbols()
        if (reserve := statement.reserve) is not None and reserve.note:
            share = known["memory_utilization"]
            sourced = Value(1, "1", "1", reserve.source, reserve.kind, 1, 1, reserve.date,
                            note=reserve.note)
            yield shared | {"what": (share.en, share.zh), "value": say("what-is-not-set-aside"),
                            "source": notes.mark(sourced)}
        for key, flag in statement.flags.items():
            yield shared | {"what": (known[key].en, known[key].zh),
                            "value": say("default-of-flag", flag=flag),
                            "source": say("tables-below")}
        given = {key: value for key, value in statement.workload if value is not None}
        for label, value in labelled(given | statement.mechanisms):
            yield shared | {"what": label, "value": written(value), "source": notes.mark(value)}


def _releases(profile: Profile, statement: Statement) -> Pair:
    """First and last release, as far as either is stated."""
    since, until = statement.since or profile.since, statement.until
    if since and since == until:
        return say("release-only", release=since)
    if since and until:
        return common("releases-from-to", since=since, until=until)
    if since:
        return say("releases-from", since=since)
    return say("releases-to", until=until) if until else common("all")


def _holds(statement: Statement) -> Pair:
    """Cards and models of which a statement speaks; of all: a dash."""
    cards = [catalogue.load("mechanisms", name).name for name in statement.cards]
    parts: list[Pair] = [(name["en"], name["zh"]) for name in cards]
    if statement.attention is not None:
        parts.append(ATTENTIONS[statement.attention])
    if statement.drafts is not None:
        parts.append(DRAFTS[statement.drafts])
    if statement.exchange is not None:
        parts.append(EXCHANGES[statement.exchange])
    return join((", ", "、"), parts) if parts else ("–", "–")
