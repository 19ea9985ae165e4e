"""The first screen of a document: what runs, which parts can be used, the errors that matter."""

from __future__ import annotations

from collections import Counter

from catalogue.messages import Pair, join, messages
from catalogue.reading.shared import causes
from notebooks.pages.audit import findings
from notebooks.pages.audit.consequences import DECISION, NUMBER, STOPS, WORDS, weights
from notebooks.pages.audit.document import Page
from notebooks.pages.audit.subjects import usable
from notebooks.pages.audit.words import (
    GROUPS,
    HOLDS,
    OPEN,
    addressed,
    group,
    printed,
    right,
)
from notebooks.show.display import show, table
from notebooks.show.long_table import Cell, strip
from notebooks.show.numbers import fmt_int, fmt_percent

common = messages("common")
say = messages("pages/audit/first-screen")

NAMED = {STOPS: 1, DECISION: 2, NUMBER: 1}  # causes of each consequence that are told


def answer(page: Page) -> None:
    """What a reader has to know, in the order in which it matters."""
    findings.running(page.document)
    parts(page)
    errors(page)


def parts(page: Page) -> None:
    """Which parts can be used: a sentence, a strip of all sections, their counts as a table."""
    count = page.counts
    show(*usable(page.rows))
    sections = {name: Counter(map(group, rows)) for name, rows in page.sections().items()}
    strip([Cell(page.titled(name), [of[kind] for kind in GROUPS])
           for name, of in sections.items()], say("sections-by-what-holds"))
    table([{"section": page.titled(name), "claims": sum(of.values()),
            **{kind: of[kind] for kind in GROUPS},
            "share": fmt_percent(of[HOLDS] / sum(of.values()), 0)}
           for name, of in sections.items()],
          {"section": common("section"), "claims": common("claims"), **GROUPS,
           "share": say("of-them-hold")}, sortable=True,
          folded=say("strip-as-table", total=fmt_int(len(page.rows)), right=fmt_int(count[HOLDS]),
                     undecided=fmt_int(count[OPEN])))


def errors(page: Page) -> None:
    """The gravest causes, each with the claim that most hangs on."""
    named, told = causes(), Counter[str]()
    lines: list[Pair] = []
    for name, found in weights(page.rows):
        what = named[name]["consequence"]
        told[what] += 1
        if told[what] > NAMED[what]:
            continue
        case, cause = found[0].case, named[name]
        lines.append(say(
            "error", consequence=WORDS[what], title=(cause["title"]["en"], cause["title"]["zh"]),
            what=(cause["what"]["en"], cause["what"]["zh"]), claim=addressed([found[0].id]),
            of=(case.what["en"], case.what["zh"]), printed=printed(found[0]),
            right=right(found[0]), known=right(found[0])[0] != "–"))
    if lines:
        show(*say("errors-that-matter", errors=join(("\n", "\n"), lines)))
