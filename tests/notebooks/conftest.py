"""Outputs of notebook cells, captured as IPython captures them."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import CapturedIO, capture_output


class Cell:
    """What has been displayed and glued so far."""

    def __init__(self, captured: CapturedIO) -> None:
        self.captured = captured

    def texts(self, lang: str) -> list[str]:
        """Return Markdown and HTML of a language; of both languages where it is empty."""
        return [text for one in self.captured.outputs for kind, text in one.data.items()
                if kind in ("text/markdown", "text/html")
                and (one.metadata or {}).get("lang", "") == lang]

    def rows(self, lang: str) -> list[list[str]]:
        """Return the cells of all Markdown tables, without headings."""
        lines = "\n".join(self.texts(lang)).splitlines()
        rules = [place for place, line in enumerate(lines) if line.startswith(("| :-", "| --"))]
        headings = {place for rule in rules for place in (rule - 1, rule)}
        return [[text.strip() for text in line.strip("|").split(" |")]
                for place, line in enumerate(lines)
                if line.startswith("| ") and place not in headings]

    @property
    def numbers(self) -> dict[str, str]:
        """Return glued numbers, as the page prints them, by key."""
        return {one.metadata["scrapbook"]["name"]: literal_eval(text)
                for one in self.captured.outputs if "scrapbook" in (one.metadata or {})
                for kind, text in one.data.items() if kind.endswith("text/plain")}


@pytest.fixture
def cell() -> Iterator[Cell]:
    """Capture what a test displays."""
    InteractiveShell.instance()
    with capture_output(stdout=False, stderr=False) as captured:
        yield Cell(captured)
