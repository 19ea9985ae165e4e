"""The built book and a browser, for the tests of finished pages (``make test-site``)."""


import _site
import pytest

from tools.site import SITE
from tools.site.browser import INSTALL, find_chromium, open_browser


@pytest.fixture(scope="session")
def site():
    """The folder of the built book."""
    assert (SITE / "index.html").is_file(), "no built book; run make test-site"
    return SITE


@pytest.fixture(scope="session")
def every(site):
    """Facts of every page, each read once."""
    return _site.load(site)


@pytest.fixture(scope="module")
def browser():
    if (chromium := find_chromium()) is None:
        pytest.skip(f"no Chromium: {INSTALL}")
    with open_browser(chromium, timeout=120) as started:
        yield started


def pytest_terminal_summary(terminalreporter):
    """Report loudly that no page was opened in a browser."""
    if find_chromium() is None:
        terminalreporter.section("NO BROWSER TESTS", red=True)
        terminalreporter.write_line(f"Chromium is missing, so no page was opened: {INSTALL}")
