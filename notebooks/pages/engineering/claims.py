"""What the documents say of a chapter's subject, beside ours: rows of the audit, folded."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from calc.auditing.audit import audit
from calc.auditing.judging import CONTRADICTS, INFEASIBLE, Audited
from catalogue import ParamsError
from notebooks.pages.audit.words import called, printed, right
from notebooks.show.display import markdown
from notebooks.show.documents import link
from notebooks.show.frames import show


def select_claims(names: str) -> list[Audited]:
    """Claims by their numbers, in the audit's order.

    What contradicts a claim is left to the page of its document, which has all of them.

    Args:
        names: numbers with blanks between them: ``S1-164 S2-C053``.

    Raises ParamsError for a number that no claim has.
    """
    rows = {row.id: row for row in audit(only=names.split()).rows}
    if unknown := sorted(set(names.split()) - set(rows)):
        raise ParamsError(f"there is no claim '{unknown[0]}', expected one of params/claims.")
    return [replace(row, judgement=replace(row.judgement, clashes=(), also=tuple(
        each for each in row.judgement.also if each != CONTRADICTS))) for row in rows.values()]


def claims_table(names: str) -> None:
    """A table of those claims: what is printed, what is right, the verdict.

    Args:
        names: as for :func:`select_claims`.
    """
    rows = select_claims(names)
    if any(INFEASIBLE in (row.judgement.verdict, *row.judgement.also) for row in rows):
        markdown("*Infeasible*: as printed, the deployment does not fit its cards or does not "
                 "start; a speed beside it is what the layout would reach if it did.",
                 "“部署不可行”：照原文放不下或无法启动；同一行的速度按假定能够运行计算。")
    show(pd.DataFrame([{
        "id": link(row.id), "what": (row.case.what["en"], row.case.what["zh"]),
        "printed": printed(row), "right": right(row), "verdict": called(row)} for row in rows]),
        folded=("The claims of the documents", "文档中的论断"), labels={
            "id": ("claim", "编号"), "what": ("what", "内容"), "printed": ("documented", "文档"),
            "right": ("correct value", "正确值"),
            "verdict": ("[verdict](#audit-verdicts)", "[结论](#audit-verdicts)")})
