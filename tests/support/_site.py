"""Facts of the pages of a built site: each HTML file is parsed once."""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml import html

from tools.site.assets import element_names, formula_signs, page_names, tree

CLASS = "contains(concat(' ', normalize-space(@class), ' '), ' {} ')"
SHAPE = " | ".join((*map(".//{}".format, ("h1", "h2", "h3", "h4", "figure", "table", "tr", "img",
                                          "details")),
                    *(f".//div[{CLASS.format(name)}]" for name in ("math", "admonition")),
                    f".//span[{CLASS.format('eqno')}]"))
CODE = ".//pre | .//code | .//svg | .//*[" + " or ".join(
    map(CLASS.format, ("math", "headerlink"))) + "]"
LOADED = ("//script/@src | //img/@src | //source/@src | //iframe/@src | "
          "//link[not(@rel='canonical' or @rel='alternate')]/@href")
SPOKEN = "//@title | //@aria-label | //@placeholder | //@data-bs-title"
CAPTION = f"//figcaption//*[{CLASS.format('caption-number')}]"
MENTION = f"//a[{CLASS.format('reference')}]/*[{CLASS.format('std-numref')}]"
SOURCE = f"//a[{CLASS.format('btn-download-source-button')}]/@href"
STATE = "="  # in a fragment: the state of a calculator or a text, no anchor


@dataclass
class Page:
    """Facts of one page.

    Attributes:
        ids: of all elements. names: classes and ids of all elements.
        links, text_links: targets of all links, and of those in the article.
        loads: addresses of scripts, styles and images. inline: attributes of inline scripts.
        alternates: address by language. switch: target of the language switcher.
        shape: tags of headings, tables, figures and formulas, in order.
        captions: number of each numbered figure by the ids around it. mentions: target and number.
        spoken: labels of the interface. signs: characters in formulas.
        text: of the article, without formulas. prose: without code.
        source: address of the notebook, empty if there is none.
    """

    lang: str
    ids: list[str]
    names: set[str]
    links: list[str]
    text_links: list[str]
    loads: list[str]
    inline: list[Any]
    alternates: dict[str, str]
    switch: str
    shape: list[str]
    captions: list[tuple[list[str], int]]
    mentions: list[tuple[str, int]]
    spoken: list[str]
    signs: set[str]
    text: str
    prose: str
    source: str


Site = dict[str, Page]


def load(site: Path) -> Site:
    """Read all pages."""
    return {name: read(site / name) for name in page_names(site)}


def read(path: Path) -> Page:
    """Read one page."""
    root = tree(path)
    strings = functools.partial(root.xpath, smart_strings=False)
    article = next(root.iter("article"), html.Element("article"))
    ids, names, signs = strings("//@id"), element_names(root), formula_signs(root)
    _drop(root.find_class("katex"))  # nine tenths of a derivation
    page = Page(
        lang=root.get("lang", ""), ids=ids, names=names, signs=signs,
        links=strings("//a/@href"),
        text_links=article.xpath(f".//a[not({CLASS.format('headerlink')})]/@href"),
        loads=strings(LOADED),
        inline=[dict(each.attrib) for each in root.xpath("//script[not(@src)]")
                if "json" not in each.get("type", "")]
        + root.xpath("//@onclick | //@onload | //@onchange | //@onsubmit"),
        alternates={each.get("hreflang"): each.get("href")
                    for each in root.xpath("//link[@rel='alternate'][@hreflang]")},
        switch=next(iter(root.xpath(f"//a[{CLASS.format('language-switcher')}]/@href")), ""),
        shape=[each.tag for each in article.xpath(SHAPE)],
        captions=[(each.xpath("ancestor::*/@id"), _number(each)) for each in root.xpath(CAPTION)],
        mentions=[(each.getparent().get("href"), _number(each)) for each in root.xpath(MENTION)],
        spoken=strings(SPOKEN),
        text="", prose="",
        source=next(iter(root.xpath(SOURCE)), ""))
    _drop(article.xpath(".//script | .//style"))
    page.text = _flat(article)
    _drop(article.xpath(CODE))
    page.prose = _flat(article)
    return page


def _number(element: html.HtmlElement) -> int:
    return int("".join(filter(str.isdigit, element.text or "")) or 0)


def _flat(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def _drop(parts: list[html.HtmlElement]) -> None:
    for part in parts:
        if part.getparent() is not None:
            part.drop_tree()


def target(name: str, link: str) -> tuple[str, str] | None:
    """Return the file and the anchor that a link of the page `name` leads to; None if external."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    inside = "" if parts.path.startswith("/") else posixpath.dirname(name)  # from the site's folder
    path = posixpath.normpath(posixpath.join(inside, unquote(parts.path).lstrip("/")))
    anchor = "" if STATE in parts.fragment else unquote(parts.fragment)
    return (path if parts.path else name), anchor


def broken(site: Path, pages: Site) -> Iterator[str]:
    """Yield links to missing files and to anchors that their page lacks."""
    anchors = {name: set(page.ids) for name, page in pages.items()}
    exists: dict[str, bool] = {}
    for name, page in pages.items():
        for link in dict.fromkeys([*page.links, *page.loads]):
            if (found := target(name, link)) is None:
                continue
            path, anchor = found
            if path not in exists:
                exists[path] = (site / path).exists()
            if not exists[path] or (anchor and path in anchors and anchor not in anchors[path]):
                yield f"{name} → {link}"


def clicks(pages: Site, start: str) -> dict[str, int]:
    """Count the links that lead, at the least, from the article of `start` to each page."""
    distance, waiting = {start: 0}, [start]
    for name in waiting:
        for link in pages[name].text_links:
            found = target(name, link)
            if found and found[0] in pages and found[0] not in distance:
                distance[found[0]] = distance[name] + 1
                waiting.append(found[0])
    return distance


def unanswered(pages: Site, folder: str, questions: Mapping[str, Mapping[str, str]], most: int
               ) -> Iterator[str]:
    """Yield questions whose answer is missing or more than `most` clicks from the front page."""
    distance = clicks(pages, f"{folder}index.html")
    for question, answer in questions.items():
        name, _, label = answer["at"].partition("#")
        name = f"{folder}{name}.html"
        if name not in pages or label not in pages[name].ids:
            yield f"{question}: there is no {name}#{label}"
        elif answer["text"] not in pages[name].text:
            yield f"{question}: “{answer['text']}” is not in {name}"
        elif distance.get(name, most + 1) > most:
            yield f"{question}: {name} is {distance.get(name, 'any number of')} clicks away"
