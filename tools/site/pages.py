"""What can be said of a built site from its files alone: pages, links, questions, figures."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import etree, html

OWN = {"_static", "_sources", "_downloads", "_images", "downloads", "engine"}  # not pages
CLASS = "contains(concat(' ', normalize-space(@class), ' '), ' {} ')"
APART = (".//details | .//script | .//style | .//pre | .//svg | .//*["
         + " or ".join(map(CLASS.format, ("math", "katex", "headerlink"))) + "]")  # not prose
UNSEEN = "ancestor::details or ancestor::a or ancestor::button or ancestor::summary"
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]+")
STATE = "="  # in a fragment: what a calculator was set to, or words of a text; no anchor


@dataclass
class Page:
    """A page: its anchors, its links in all and in its text, its English words and figures."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    of_text: list[str] = field(default_factory=list)
    words: int = 0
    figures: int = 0


Site = dict[str, Page]


def names(site: Path) -> list[str]:
    """The pages of a built site, relative to its folder."""
    return sorted(name for path in site.rglob("*.html")
                  if not OWN & set((name := path.relative_to(site).as_posix()).split("/")))


def folder_of(name: str) -> str:
    """The folder of the page's language: empty, or ``zh/``."""
    return "zh/" if name.startswith("zh/") else ""


def sampled(every: list[str], about: int) -> list[str]:
    """Every nth page of each language, so that about so many are opened; 0 means all."""
    if not about:
        return every
    chosen = []
    for folder in ("", "zh/"):
        of_language = [name for name in every if folder_of(name) == folder]
        chosen += of_language[::max(1, round(len(of_language) / about))]
    return chosen


def _tree(path: Path) -> html.HtmlElement:
    return html.document_fromstring(path.read_bytes(), html.HTMLParser(encoding="utf-8"))


def _drop(parts: list[html.HtmlElement]) -> None:
    for part in parts:
        if part.getparent() is not None:
            part.drop_tree()


def read(path: Path) -> Page:
    """Read one page."""
    tree = _tree(path)
    page = Page(anchors=set(tree.xpath("//@id | //a/@name")),
                links=tree.xpath("//a/@href | //link[not(@rel='canonical')]/@href | "
                                 "//script/@src | //img/@src"))
    for article in tree.xpath(f"//article[{CLASS.format('bd-article')}]"):
        page.of_text = article.xpath(f".//a[not({CLASS.format('headerlink')})]/@href")
        page.figures = len(article.xpath(f".//img[not({UNSEEN})] | .//svg[not({UNSEEN})]"))
        _drop(article.xpath(APART))
        page.words = len(WORD.findall(" ".join(article.itertext())))
    return page


def target(name: str, link: str) -> tuple[str, str] | None:
    """The file and the anchor that a link of the page `name` leads to; None out of the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    inside = "" if parts.path.startswith("/") else posixpath.dirname(name)  # from the site's folder
    path = posixpath.normpath(posixpath.join(inside, unquote(parts.path).lstrip("/")))
    anchor = "" if STATE in parts.fragment else unquote(parts.fragment)
    return (path if parts.path else name), anchor


def broken(site: Path, pages: Site) -> Iterator[str]:
    """Links to files that are not there, or to anchors that their page does not have."""
    there: dict[str, bool] = {}
    for name, page in pages.items():
        for link in dict.fromkeys(page.links):
            if (found := target(name, link)) is None:
                continue
            path, anchor = found
            if path not in there:
                there[path] = (site / path).exists()
            if not there[path] or (anchor and path in pages
                                   and anchor not in pages[path].anchors):
                yield f"{name} → {link}"


def clicks(pages: Site, start: str) -> dict[str, int]:
    """How many links, at the least, lead from the text of `start` to each page."""
    distance, waiting = {start: 0}, [start]
    for name in waiting:
        for link in pages[name].of_text:
            found = target(name, link)
            if found and found[0] in pages and found[0] not in distance:
                distance[found[0]] = distance[name] + 1
                waiting.append(found[0])
    return distance


def _section(path: Path, label: str) -> str | None:
    """The text of the section with a label, as a reader sees it; None where there is none."""
    found = _tree(path).xpath("//*[@id=$label]/ancestor-or-self::section[1]", label=label)
    if not found:
        return None
    _drop(found[0].xpath(".//script | .//style"))
    return " ".join(found[0].text_content().split())


def unanswered(site: Path, pages: Site, folder: str, questions: Mapping[str, Mapping[str, str]],
               most: int) -> Iterator[str]:
    """Questions whose answer is more than `most` clicks away or does not stand where it should."""
    start = f"{folder}index.html"
    distance = clicks(pages, start) if start in pages else {}
    for question, answer in questions.items():
        name, _, label = answer["at"].partition("#")
        name = f"{folder}{name}.html"
        if name not in pages:
            yield f"{question}: there is no {name}"
        elif (text := _section(site / name, label)) is None:
            yield f"{question}: {name} has no section {label}"
        elif answer["text"] not in text:
            yield f"{question}: “{answer['text']}” is not in {name}#{label}"
        elif distance.get(name, most + 1) > most:
            yield f"{question}: {name} is {distance.get(name, 'any number of')} clicks away"


def load(site: Path) -> Site:
    """Read all pages. Raises SystemExit with a sentence where one cannot be read."""
    pages = {}
    for name in names(site):
        try:
            pages[name] = read(site / name)
        except (etree.ParserError, OSError) as wrong:
            raise SystemExit(f"{site / name} is no page: {wrong}.") from wrong
    return pages
