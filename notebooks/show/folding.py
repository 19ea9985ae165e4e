"""What a page shows by many calls, folded under one title until a reader opens it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from IPython.utils.capture import capture_output

from catalogue.messages import messages
from notebooks.show.display import LANGUAGES, Text, show, table

common = messages("common")

MARKDOWN = "text/markdown"
FENCE = ":" * 6  # around the fences of what is folded


@contextmanager
def folded(en: str, zh: str) -> Iterator[None]:
    """Equations, tables and sentences that are shown inside stand under a title, folded.

    Equations keep their labels and numbers; glued numbers and figures pass through.

    Args:
        en, zh: the title.
    """
    with capture_output(stdout=False, stderr=False) as held:
        yield
    texts: dict[str, list[str]] = {lang: [] for lang in LANGUAGES}
    for output in held.outputs:
        if MARKDOWN not in output.data:
            output.display()
            continue
        for lang in texts:
            if (output.metadata or {}).get("lang", lang) == lang:
                texts[lang].append(output.data[MARKDOWN])
    if not any(texts.values()):
        return
    show(*(f"{FENCE}{{dropdown}} {title}\n\n" + "\n\n".join(texts[lang]) + f"\n\n{FENCE}"
           for lang, title in zip(LANGUAGES, (en, zh), strict=True)))


def short_table(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Text], first: int = 4,
                rest: tuple[str, str] | None = None, wide: bool = False) -> None:
    """A table whose first rows are seen and whose other rows are folded.

    Args:
        rows, columns, wide: as for ``display.table``.
        first: how many rows are seen.
        rest: title of the others, if it is not just that they are the other rows.
    """
    rows = list(rows)
    table(rows[:first], columns, wide=wide)
    if rows[first:]:
        table(rows[first:], columns, wide=wide, folded=rest or common("other-rows"))
