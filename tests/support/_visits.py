"""What Chromium reports on a page of a built site: errors, weight, size, accessibility."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Error as PlaywrightError

from tools.site.browser import Browser

WIDE, MIDDLE, NARROW, SCREEN = 1440, 768, 360, 900  # CSS pixels
AXE = Path(__file__).parents[2] / "tools/site/vendor/axe.min.js"
THEMES = ("light", "dark")
SHIFTED = """new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => { sum += entry.value; })
    ).observe({type: 'layout-shift', buffered: true});
  setTimeout(() => done(sum), 100);
})"""
CALM = """document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(
  () => requestAnimationFrame(() => requestIdleCallback(() => setTimeout(done, 100),
                                                        {timeout: 2000})))))"""
PAINT = """new Promise((done) => {
  document.documentElement.dataset.theme = document.documentElement.dataset.mode = '%s';
  requestAnimationFrame(() => {
    document.getAnimations().forEach((one) => { try { one.finish(); } catch { one.cancel(); } });
    requestAnimationFrame(() => done(true));
  });
})"""
JUDGE = """axe.run(document, {resultTypes: ['violations'], preload: false}).then((found) =>
  found.violations.map(({id, impact, nodes}) => [id, impact, nodes.length,
                                                 String(nodes[0].target)]))"""


@dataclass
class Visit:
    """A page as it was shown; `axe`: theme, rule, impact, number of nodes, the first node."""

    name: str
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    bytes: int = 0
    shift: float = 0.0
    overflow: int = 0  # [CSS pixels] beyond the screen, at the worst of three widths
    tall: int = 0  # [CSS pixels] on a phone
    axe: list[tuple[str, str, str, int, str]] = field(default_factory=list)


@cache
def packed(path: Path) -> int:
    """The size of a file as a server sends it [bytes]."""
    return len(gzip.compress(path.read_bytes(), 6)) if path.is_file() else 0


def visit(browser: Browser, site: Path, name: str, audit: bool = True) -> Visit:
    """Open a page in a wide window in both themes, in a narrower one, and on a phone.

    `audit` runs the rules of axe, which takes long on a large page.
    """
    seen = Visit(name)
    root = site.resolve().as_uri()
    browser.resize(WIDE, SCREEN)
    try:
        browser.open(f"{root}/{name}")
        browser.evaluate(CALM)
        seen.foreign = [url for url in browser.requests
                        if not url.startswith((root, "data:", "blob:"))]
        seen.errors = list(browser.errors)
        seen.bytes = sum(map(packed, {Path(unquote(urlsplit(url).path))
                                      for url in browser.requests if url.startswith("file:")}))
        seen.shift = browser.evaluate(SHIFTED)
        browser.evaluate(AXE.read_text(encoding="utf-8") + ";null")
        for theme in THEMES if audit else ():
            browser.evaluate(PAINT % theme)
            seen.axe += [(theme, *found) for found in browser.evaluate(JUDGE)]
        over = [_beyond(browser, WIDE)]
        browser.resize(MIDDLE, SCREEN)
        browser.evaluate(PAINT % THEMES[0])
        over.append(_beyond(browser, MIDDLE))
        browser.resize(NARROW, SCREEN)
        browser.open(f"{root}/{name}")  # what folds on a phone does so before the page is drawn
        browser.evaluate(CALM)
        seen.overflow = max(0, *over, _beyond(browser, NARROW))
        seen.tall = browser.evaluate("document.documentElement.scrollHeight")
    except PlaywrightError as error:
        seen.errors.append(str(error))
    browser.resize(WIDE, SCREEN)
    return seen


def _beyond(browser: Browser, width: int) -> int:
    """How far the page reaches beyond a screen of this width [CSS pixels]."""
    return browser.evaluate("document.documentElement.scrollWidth") - width
