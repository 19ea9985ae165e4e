"""What verdicts are called, and where what decides a claim stands in the book."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from calc.auditing import judging
from calc.auditing.audit import Audit, Audited, audit
from calc.auditing.judging import FAILS as WRONG
from calc.auditing.judging import HOLDS, OPEN
from calc.auditing.settings import ELSEWHERE
from calc.uncertainty.amount import Amount
from catalogue.reading.printed import Printed
from notebooks.pages.catalogue.tables.deployments import page_of

Text = tuple[str, str]
VERDICTS: dict[str, Text] = {
    judging.REPRODUCED: ("reproduced", "可复现"),
    judging.COMPATIBLE: ("within our interval", "在区间内"),
    judging.SPECIFICATION: ("specification", "规格"),
    judging.ARITHMETIC: ("arithmetic error", "算术错误"),
    judging.INPUT: ("wrong input", "输入错误"),
    judging.FORMULA: ("wrong formula", "公式错误"),
    judging.BOTH: ("wrong input and formula", "输入与公式均错"),
    judging.INFEASIBLE: ("infeasible", "部署不可行"),
    judging.SETTING: ("setting", "设置"),
    judging.THRESHOLD: ("threshold", "阈值"),
    judging.ASSUMPTION: ("assumption", "假设"),
    judging.UNVERIFIABLE: ("unverifiable", "无法核实")}
NUMBER = ("wrong number", "数值错误")  # where the document has no formula
ALSO: dict[str, Text] = {
    judging.RIGHT: ("right", "正确"), judging.WRONG: ("wrong", "错误"),
    judging.BINARY: ("GB for GiB", "GB 实为 GiB"),
    judging.CONTRADICTS: ("contradicted", "自相矛盾"),
    judging.INFEASIBLE: ("infeasible", "部署不可行"),
    judging.ALWAYS: ("always fires", "一直告警"), judging.PERHAPS: ("may fire", "可能误报"),
    judging.SOUND: ("sound", "合理"), judging.NEVER: ("never fires", "从不触发"),
    judging.LATE: ("too late", "过迟"),
    "accepted": ("accepted", "有效"), "deprecated": ("deprecated", "已弃用"),
    "unlisted": ("unlisted value", "取值未列出"), "choice": ("no such choice", "无此选项"),
    "type": ("wrong type", "类型不符"), "unknown": ("no such setting", "无此设置"),
    ELSEWHERE: ("no catalogue", "不在目录")}
GROUPS: dict[str, Text] = {HOLDS: ("holds", "成立"), WRONG: ("does not hold", "不成立"),
                           OPEN: ("cannot be decided", "无法判定")}
PAGES = {"devices": "../devices/{}.html", "models": "../models/{}.html", "links": "../nodes.html",
         "nodes": "../nodes.html", "prices": "../cost.html", "costs": "../cost.html",
         "goals": "../search.html", "mechanisms": "../reference.html",
         "formats": "../reference.html", "precisions": "../reference.html",
         "measurements": "../validation.html", "accuracies": "../validation.html"}


@functools.cache
def everything() -> Audit:
    """The audit, once for a page."""
    return audit()


def of_document(document: str) -> list[Audited]:
    """The claims of a document."""
    return [row for row in everything().rows if row.case.listed.document == document]


def group(row: Audited) -> str:
    """Whether a claim holds, does not, or cannot be decided."""
    return row.judgement.standing


def printed(row: Audited) -> str:
    """What the document has, in its unit or its words."""
    case = row.case
    return case.printed.text if case.printed else (case.listed.claim.words or "–")


def right(row: Audited) -> Text:
    """The right value of what does not hold, with its interval, in the document's unit."""
    case, truth = row.case, row.case.truth
    if truth is None or group(row) != WRONG or case.printed is None:
        return "–", "–"
    return (spread(truth.three, case.printed),) * 2


def spread(three: Amount, printed: Printed) -> str:
    """A value with its interval, in the unit of a printed one."""
    like = printed.like
    ends = "" if three.low == three.high else f" ({like(three.low)} – {like(three.high)})"
    return like(three.value) + ends


def called(row: Audited) -> Text:
    """The verdict in words, with what else holds."""
    name, also = VERDICTS[row.judgement.verdict], row.judgement.also
    if row.judgement.verdict == judging.FORMULA and row.case.own is None:
        name = NUMBER
    said = [", ".join(ALSO[each][0] for each in also), "、".join(ALSO[each][1] for each in also)]
    return (f"{name[0]}: {said[0]}" if also else name[0],
            f"{name[1]}：{said[1]}" if also else name[1])


def decides(row: Audited) -> str | None:
    """Address of the page with what decides a claim, from a page of a document."""
    case = row.case
    if case.setting is not None:
        return "../engines.html"
    if case.formula is not None:
        return f"../{case.formula.chapter}.html"
    if case.truth is None:
        return None
    where = case.truth.where
    if ":" in where:
        return f"../scenarios/{page_of(where.partition(':')[0])}.html"
    kind, _, rest = where.partition("/")
    if kind == "claims":
        return f"#{rest}"
    found = PAGES.get(kind)
    return found.format(rest.partition("/")[0]) if found else None


def addressed(ids: Iterable[str]) -> str:
    """Links to claims on their document's page; their addresses are no labels of the book."""
    return ", ".join(f'<a href="#{name}">{name}</a>' for name in ids)
