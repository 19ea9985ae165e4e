"""What the documents say of a chapter's subject, beside ours: rows of the audit, folded."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from audited.words import called, everything, printed, right
from calc.auditing.audit import Audited
from workbench.showing.display import table

ADDRESS = "documents/{}.html#{}"  # of a claim, from a chapter's page


def chosen(sections: Mapping[str, Sequence[str]], causes: Collection[str] = (),
           deployments: tuple[str, ...] = ()) -> list[Audited]:
    """Claims of whole sections, of a cause, or of deployments, in the audit's order.

    Args:
        sections: document -> sections of it.
        causes: of ``params/causes.yml``, which explain what does not hold.
        deployments: by which claims are decided, by the beginning of their names.
    """
    return [row for row in everything().rows if row.cause in causes or not set(
        row.case.section.split(", ")).isdisjoint(sections.get(row.case.listed.document, ()))
        or (row.case.truth is not None and row.case.truth.where.startswith(deployments))]


def beside(sections: Mapping[str, Sequence[str]], causes: Collection[str] = (),
           deployments: tuple[str, ...] = ()) -> None:
    """A table of those claims: what is printed, what is right, the verdict.

    Args:
        sections, causes, deployments: as for :func:`chosen`.
    """
    table([{"id": f'<a href="{ADDRESS.format(row.case.listed.document, row.id)}">{row.id}</a>',
            "what": (row.case.what["en"], row.case.what["zh"]), "printed": printed(row),
            "right": right(row), "verdict": called(row)} for row
           in chosen(sections, causes, deployments)],
          {"id": ("claim", "编号"), "what": ("what", "内容"), "printed": ("documented", "文档"),
           "right": ("right", "正确值"), "verdict": ("verdict", "结论")},
          folded=("The claims of the documents", "文档中的论断"))
