"""Where the documents' claims on a subject stand, with their verdicts: links by number."""

from __future__ import annotations

from catalogue.ledger.documents import Said
from workbench.showing.display import show
from workbench.showing.documents import link


def place(document: str, said: Said) -> str:
    """Where a document says something: section and line, with links to the claims on it.

    Args:
        document: ``s0``.
        said: of ``params/documents/``.
    """
    return "<br>".join((f"{document.upper()} {said.section}, {said.line}",
                        *map(link, said.claims)))


def claims(names: str) -> None:
    """A line with a link to each claim.

    Args:
        names: numbers with blanks between them: ``S0-117 S1-028``.
    """
    links = list(map(link, names.split()))
    show(f"The documents on this, with verdicts: {', '.join(links)}.",
         f"文档的相关论断及结论：{'、'.join(links)}。")
