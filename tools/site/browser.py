"""The system's Chromium, driven by Playwright."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page, Request, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL = "apt-get install chromium"
FLAGS = ("--no-sandbox", "--disable-background-networking", "--disable-quic")
FONTS = "document.fonts.ready.then(() => true)"


def find_chromium() -> str | None:
    """Return the path of the system's Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A tab of a headless Chromium.

    `requests` lists every address the tab asked for and `errors` every console error, failed
    request and uncaught exception, since the last `open`.
    """

    def __init__(self, page: Page) -> None:
        """Record the requests and errors of a tab."""
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("requestfailed", self._record_failure)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text)
                if message.type in {"error", "assert"} else None)

    def _record_failure(self, request: Request) -> None:
        """Record a failed request; one that the page itself cancels is no error."""
        if request.failure != "net::ERR_ABORTED":
            self.errors.append(f"failed request: {request.failure} {request.url}")

    def open(self, url: str) -> None:
        """Go to `url` and wait until it is loaded with its fonts."""
        self.requests.clear()
        self.errors.clear()
        self.page.goto(url)
        self.page.evaluate(FONTS)

    def click(self, selector: str) -> None:
        """Click the first link that matches `selector` and wait for the page behind it."""
        with self.page.expect_event("load"):
            self.page.locator(selector).first.evaluate("(link) => link.click()")
        self.page.evaluate(FONTS)

    def resize(self, width: int, height: int) -> None:
        """Make the window `width` by `height` CSS pixels."""
        self.page.set_viewport_size({"width": width, "height": height})

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, promises awaited."""
        return self.page.evaluate(expression)

    def wait_for(self, expression: str) -> Any:
        """Return the value of a JavaScript expression as soon as it is true."""
        return self.page.wait_for_function(expression, polling=50).json_value()


@contextlib.contextmanager
def open_browser(chromium: str, timeout: float = 90.0) -> Iterator[Browser]:
    """Start the program `chromium` with one tab; `timeout` [s] bounds every wait."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = started.new_page()
        page.set_default_timeout(1000 * timeout)
        try:
            yield Browser(page)
        finally:
            started.close()
