"""The built book and a browser, for the tests of finished pages (``make test-site``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.site import pages
from tools.site.browser import INSTALL, Browser, find_chromium
from tools.site.printed import SITE


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built book."""
    assert (SITE / "index.html").is_file(), "no built book; run make test-site"
    return SITE


@pytest.fixture(scope="session")
def every(site: Path) -> pages.Site:
    """Facts of every page, each read once."""
    return pages.load(site)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if (chromium := find_chromium()) is None:
        pytest.skip(f"no Chromium: {INSTALL}")
    with Browser(chromium, timeout=120) as started:
        yield started


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report loudly that no page was opened in a browser."""
    if find_chromium() is None:
        terminalreporter.section("NO BROWSER TESTS", red=True)
        terminalreporter.write_line(f"Chromium is missing, so no page was opened: {INSTALL}")
