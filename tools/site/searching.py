"""Whether readers find what they look for: a list of queries, and the rank of what explains each.

The list is data: per language, a query -> the pages or sections that explain it (``page`` or
``page#label``, without ``.html``); a page alone stands for any of its sections.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.site.browser import Browser

FOLDERS = {"en": "", "zh": "zh/"}
FIRST = 3  # results among which one has to be right
ASK = """(query => {
  const input = document.querySelector('.bd-search-container input[name=q]');
  input.value = query;
  input.dispatchEvent(new Event('input', {bubbles: true}));
})"""
BOX = "document.querySelector('.bd-search-container .search-results')"


class Row(NamedTuple):
    """One query: the rank of the first right result, 0 if none is shown, and what came first."""

    lang: str
    query: str
    rank: int
    first: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether a right result is among the first."""
        return 0 < self.rank <= FIRST


def results(browser: Browser, query: str) -> list[str]:
    """Ask the open page of the search; return addresses of results from the language's root."""
    browser.evaluate(f"{ASK}({json.dumps(query)})")
    browser.wait_for(f"{BOX}.dataset.query === {json.dumps(query)}")
    root = browser.evaluate("new URL('.', location.href).href")
    links = browser.evaluate(f"[...{BOX}.querySelectorAll('a')].map(link => link.href)")
    return [str(link).removeprefix(root).replace(".html", "", 1) for link in links]


def explains(address: str, wanted: Sequence[str]) -> bool:
    """Tell whether a result is one of the pages or sections that are wanted."""
    return any(address == one or address.partition("#")[0] == one for one in wanted)


def rows(browser: Browser, site: Path, searches: Mapping[str, Mapping[str, Sequence[str]]]
         ) -> Iterator[Row]:
    """Look for everything in the folder of a built site, in each language on one page."""
    for lang, queries in searches.items():
        browser.open(f"{site.resolve().as_uri()}/{FOLDERS[lang]}search.html")
        for query, wanted in queries.items():
            found = results(browser, query)
            rank = next((place for place, address in enumerate(found, 1)
                         if explains(address, wanted)), 0)
            yield Row(lang, query, rank, tuple(found[:FIRST]))
