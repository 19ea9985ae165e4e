"""The first screen of a document: what runs, which parts can be used, the errors that matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from calc.auditing.cases import Case
from calc.auditing.reasons import planned
from calc.auditing.truths import CHANGED
from catalogue.messages import Pair, join, messages
from catalogue.reading.values import causes
from notebooks.pages.audit import findings
from notebooks.pages.audit.consequences import DECISION, NUMBER, STOPS, weights
from notebooks.pages.audit.document import Page
from notebooks.pages.audit.subjects import usable
from notebooks.pages.audit.words import GROUPS, addressed, group, limit_of, printed
from notebooks.show.display import markdown
from notebooks.show.long_table import Cell, strip

common = messages("common")
say = messages("pages/audit/first-screen")

NAMED = {STOPS: 1, DECISION: 2, NUMBER: 1}  # causes of each consequence that are told


def answer(page: Page) -> None:
    """What a reader has to know, in the order in which it matters."""
    _listed(findings.running(page.document))
    parts(page)
    errors(page)


def _listed(lines: Sequence[Pair]) -> None:
    """Sentences as a list as wide as the page's tables, one alone as it is."""
    points = lines if len(lines) == 1 else [(f"- {en}", f"- {zh}") for en, zh in lines]
    en, zh = join(("\n",) * 2, points)
    markdown(f":::{{div}} full-width\n\n{en}\n\n:::", f":::{{div}} full-width\n\n{zh}\n\n:::")


def parts(page: Page) -> None:
    """Which parts can be used: a sentence, and a strip of all sections, a list in words."""
    _listed([join((" ", ""), [findings.of_all(page.document), usable(page.rows)])])
    strip([Cell(page.titled(name), [Counter(map(group, rows))[kind] for kind in GROUPS])
           for name, rows in page.sections().items()], say("sections-by-what-holds"),
          list(GROUPS.values()))


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
        ours, of = _ours(case), case.truth.scenario if case.truth else None
        elsewhere = of is not None and CHANGED in of
        limit = limit_of(case) if case.claim.comparison else ""
        lines.append(say(
            "error", consequence=what, title=(cause["title"]["en"], cause["title"]["zh"]),
            what=(cause["what"]["en"], cause["what"]["zh"]), claim=addressed([found[0].id]),
            of=(case.what["en"], case.what["zh"]), printed=printed(found[0]), right=ours,
            compared="limit" if limit else "yes" if ours else "no", elsewhere=elsewhere,
            limit=limit,
            plan=planned(of) if of and elsewhere else ""))
    if lines:
        _listed(lines)


def _ours(case: Case) -> str:
    """What is right, without its interval; of a range its ends; empty where there is nothing."""
    if case.printed is None or case.truth is None:
        return ""
    like, three = case.printed.like, case.truth.three
    return f"{like(three.low)} – {like(three.high)}" if case.truth.spans else like(three.value)
