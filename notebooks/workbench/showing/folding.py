"""Formulas and tables that a reader opens: what a cell shows, in one dropdown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from IPython.utils.capture import capture_output

from workbench.showing.display import LANGUAGES, in_dropdown, show


@contextmanager
def folded(en: str, zh: str) -> Iterator[None]:
    """What is shown inside stands folded under a title; numbers and figures are glued as ever.

    Equations keep their labels: a link to one opens what it stands in.

    Args:
        en, zh: the title.
    """
    with capture_output(stdout=False, stderr=False) as captured:
        yield
    texts: dict[str, list[str]] = {lang: [] for lang in LANGUAGES}
    for output in captured.outputs:
        if "text/markdown" not in output.data:
            output.display()
            continue
        spoken = (output.metadata or {}).get("lang")
        for lang in [spoken] if spoken else LANGUAGES:
            texts[lang].append(output.data["text/markdown"])
    if any(texts.values()):
        show(*in_dropdown(["\n\n".join(texts[lang]) for lang in LANGUAGES], (en, zh)))
