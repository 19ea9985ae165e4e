"""Where the documents' claims on a subject stand, with their verdicts: links by number."""

from __future__ import annotations

from workbench.showing.display import show
from workbench.showing.documents import link


def claims(names: str) -> None:
    """A line with a link to each claim.

    Args:
        names: numbers with blanks between them: ``S0-117 S1-028``.
    """
    links = list(map(link, names.split()))
    show(f"The documents on this, with verdicts: {', '.join(links)}.",
         f"文档的相关论断及结论：{'、'.join(links)}。")
