"""The book as a PDF per language: ``python -m tools.site.pdf``, after the book is built.

The chapters of the built site are set one behind another into one page, which Chromium prints:
figures stay vectors, equations keep their numbers, links within the book lead to pages of the PDF.
Pages of single entries (deployments, devices, models, the claims of a document) stay on the site.
"""

from __future__ import annotations

import posixpath
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from bs4 import BeautifulSoup, Tag

from tools.site import ROOT, SITE
from tools.site.browser import INSTALL, find_chromium, open_browser

STYLE = Path(__file__).with_name("print.css")
LANGUAGES = {"en": ("", "en"), "zh": ("zh/", "zh-CN")}
CONTENTS = {"en": "Contents", "zh": "目录"}
SHEETS = ("katex", "pygments")
PATIENCE = 900.0  # seconds


def chapters(toc: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield the caption and the files of each part; pages made from a template are left out."""
    yield "", [toc["root"]]
    for part in toc["parts"]:
        yield part["caption"], list(_files(part["chapters"]))


def _files(entries: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the files of chapters, each followed by those of its sections."""
    for entry in entries:
        if "file" in entry:
            yield entry["file"]
            yield from _files(entry.get("sections", ()))


def _parsed(path: Path) -> BeautifulSoup:
    """Parse a page."""
    return BeautifulSoup(path.read_bytes(), "html.parser", from_encoding="utf-8")


def _anchor(page: str, label: str = "") -> str:
    """Identifier, in the PDF, of a label of a page."""
    return f"{page.replace('/', '-')}--{label}"


def pdf_address(page: str, target: str, printed: set[str]) -> str:
    """Where a link of `page` leads in the PDF; empty if it leads to a page that is not printed."""
    if target.startswith(("https:", "http:", "mailto:")):
        return target
    path, _, label = target.partition("#")
    other = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    other = other.removesuffix(".html")
    return f"#{_anchor(other, label)}" if other in printed else ""


def printed_article(folder: Path, page: str, printed: set[str]) -> Tag:
    """The article of a page, with identifiers and links of the printed document."""
    article = _parsed(folder / f"{page}.html").find("article")
    assert isinstance(article, Tag), page
    for part in article.select(".headerlink, script, .above-input, will-it-fit, formula-sliders"):
        part.decompose()
    for part in article.find_all(id=True):
        part["id"] = _anchor(page, str(part["id"]))
    for folded in article.find_all("details"):
        folded["open"] = ""
    for image in article.find_all("img"):
        source = (folder / page).parent / str(image["src"])
        image["src"], image["loading"] = source.resolve().as_uri(), "eager"
    for link in article.find_all("a", href=True):
        link["href"] = pdf_address(page, str(link["href"]), printed)
        if not link["href"]:
            link.name = "span"
            del link["href"]
    article.name, article["id"] = "section", _anchor(page)
    return article


def printable_page(site: Path, tag: str, toc: dict[str, Any]) -> str:
    """All chapters in the language `tag` as one page."""
    prefix, language = LANGUAGES[tag]
    folder = site / prefix
    parts = [[page for page in pages if (folder / f"{page}.html").is_file()]
             for _, pages in chapters(toc)]
    printed = {page for pages in parts for page in pages}
    front, first = _parsed(folder / "index.html"), folder / f"{parts[1][0]}.html"
    captions = [caption.get_text(strip=True)  # in the language of the page
                for caption in front.select("nav.bd-links .caption-text")]
    body, contents = [], []
    for name, pages in zip(["", *captions], parts, strict=True):
        if name:
            contents.append(f'<li class="of-part">{name}</li>')
            body.append(f'<p class="part">{name}</p>')
        for article in (printed_article(folder, page, printed) for page in pages):
            heading = article.find("h1")
            title = heading.get_text(strip=True) if heading else ""
            contents.append(f'<li><a href="#{article["id"]}">{title}</a></li>')
            body.append(str(article))
    sheets = [(first.parent / str(link["href"]).partition("?")[0]).resolve()
              for link in _parsed(first).find_all("link", rel="stylesheet")]
    heads = "".join(f'<link rel="stylesheet" href="{sheet.as_uri()}">' for sheet in sheets
                    if any(word in sheet.name for word in SHEETS))
    edition = front.select_one(".edition")
    title = front.title.get_text(strip=True).rpartition("—")[2] if front.title else ""
    return (f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8">'
            f"<title>{title}</title>{heads}<style>{STYLE.read_text(encoding='utf-8')}</style></head>"
            f'<body><div class="cover"><h1>{title}</h1>'
            f"<p>{edition.get_text(' ', strip=True) if edition else ''}</p></div>"
            f"<nav><h1>{CONTENTS[tag]}</h1><ol>{''.join(contents)}</ol></nav>"
            f"{''.join(body)}</body></html>")


def main() -> int:
    """Print the built book in both languages."""
    if not (SITE / "index.html").is_file():
        sys.exit(f"{SITE} contains no built book: run make book first.")
    if (chromium := find_chromium()) is None:
        sys.exit(f"No PDF was made: Chromium is missing; {INSTALL} installs it.")
    toc = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
    (SITE / "downloads").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, open_browser(chromium, PATIENCE) as browser:
        for tag in LANGUAGES:
            page = Path(folder) / f"{tag}.html"
            page.write_text(printable_page(SITE, tag, toc), encoding="utf-8")
            browser.open(page.as_uri())
            target = SITE / "downloads" / f"will-it-fit-{tag}.pdf"
            browser.page.pdf(path=target, outline=True, tagged=True, prefer_css_page_size=True,
                             print_background=True)
            print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
