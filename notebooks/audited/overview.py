"""The page on all documents: counts, causes, contradictions side by side."""

from __future__ import annotations

from collections import Counter, defaultdict

import catalogue
from audited import pictures
from audited.document import weights
from audited.words import GROUPS, HOLDS, OPEN, WRONG, everything, group
from calc.auditing.audit import Audited
from calc.auditing.judging import CONTRADICTS
from catalogue.reading.shared import causes
from workbench.showing.display import draw, number, show, table
from workbench.showing.numbers import fmt_int, fmt_percent

SHOWN = 8  # rows of a long table that are not folded
Text = tuple[str, str]


def answer() -> None:
    """How many claims hold, by document, and the picture of verdicts."""
    rows = everything().rows
    count = Counter(map(group, rows))
    total = len(rows)
    number("a-claims", total)
    for key, kind in (("a-holds", HOLDS), ("a-wrong", WRONG), ("a-open", OPEN)):
        number(key, count[kind] / total, fmt_percent, digits=0)
    show(f"Of the **{fmt_int(total)}** quantitative claims of the four documents, "
         f"**{fmt_percent(count[HOLDS] / total, 0)}** hold, "
         f"**{fmt_percent(count[WRONG] / total, 0)}** do not, and "
         f"{fmt_percent(count[OPEN] / total, 0)} cannot be decided.",
         f"四份文档共 **{fmt_int(total)}** 条定量论断：成立 "
         f"**{fmt_percent(count[HOLDS] / total, 0)}**，不成立 "
         f"**{fmt_percent(count[WRONG] / total, 0)}**，无法判定 "
         f"{fmt_percent(count[OPEN] / total, 0)}。")
    by: dict[str, list[Audited]] = defaultdict(list)
    for row in rows:
        by[row.case.listed.document].append(row)
    table([_document(name, of) for name, of in by.items()],
          {"document": ("document", "文档"), "claims": ("claims", "论断"), **GROUPS})
    draw(lambda lang: pictures.verdicts(rows, lang))


def _document(name: str, rows: list[Audited]) -> dict[str, object]:
    count = Counter(map(group, rows))
    title = catalogue.load("documents", name).name
    return {"document": (f"[{title['en']}](#{name})", f"[{title['zh']}](#{name})"),
            "claims": len(rows), **{each: count[each] for each in GROUPS}}


def causes_of_all() -> None:
    """Every cause with the claims that it explains, by document."""
    named, rows = causes(), []
    for name, found in weights(everything().rows):
        of = Counter(row.case.listed.document for row in found)
        rows.append({"cause": (f"**{named[name]['title']['en']}**<br>{named[name]['what']['en']}",
                               f"**{named[name]['title']['zh']}**<br>{named[name]['what']['zh']}"),
                     "claims": len(found),
                     "of": ", ".join(f"{document.upper()} {count}"
                                     for document, count in sorted(of.items()))})
    table(rows, {"cause": ("cause", "原因"), "claims": ("claims", "论断数"),
                 "of": ("of", "分布")}, wide=True,
          folded=("Every other cause", "其余原因"), first=SHOWN)


def contradictions() -> None:
    """What is said of one thing, side by side."""
    topics: dict[str, list[Audited]] = defaultdict(list)
    for row in everything().rows:
        if CONTRADICTS in row.judgement.also and row.case.topic is not None:
            topics[row.case.topic].append(row)
    rows = []
    for together in sorted(topics.values(), key=len, reverse=True):
        said: dict[str, list[str]] = defaultdict(list)
        for row in together:
            if row.case.printed is not None:
                said[row.case.printed.text].append(row.id)
        first = together[0].case
        right = (first.printed.like(first.truth.three.value)
                 if first.printed is not None and first.truth is not None else "–")
        rows.append({"what": (first.what["en"], first.what["zh"]),
                     "said": "; ".join(f"{text} ({', '.join(ids[:2])}"
                                       f"{' …' * (len(ids) > 2)})" for text, ids in said.items()),
                     "right": right})
    if rows:
        table(rows, {"what": ("of what", "内容"), "said": ("what is printed", "文档所写"),
                     "right": ("right", "正确值")}, sortable=True, wide=True,
              folded=("Every other contradiction", "其余矛盾之处"), first=SHOWN)
