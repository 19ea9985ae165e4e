"""The book as a PDF per language: ``python -m tools.site.printed``, after the book is built.

The chapters of the built site are set one behind another into one page, which Chromium prints:
figures stay vectors, equations keep their numbers, links within the book lead to pages of the PDF.
Pages of single entries (deployments, devices, models, the claims of a document) stay on the site.
"""

from __future__ import annotations

import argparse
import posixpath
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from bs4 import BeautifulSoup, Tag

from tools.site.browser import INSTALL, find_chromium

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
STYLE = Path(__file__).with_name("print.css")
LANGUAGES = {"en": ("", "en"), "zh": ("zh/", "zh-CN")}
CONTENTS = {"en": "Contents", "zh": "目录"}
SHEETS = ("katex", "pygments")
PATIENCE = 900  # seconds


def chapters(toc: dict[str, object]) -> Iterator[tuple[str, list[str]]]:
    """Name and files of each part, chapters below others after them, without pages of a template.
    """
    yield "", [str(toc["root"])]
    parts = toc["parts"]
    assert isinstance(parts, list)
    for part in parts:
        yield part["caption"], list(_files(part["chapters"]))


def _files(chapters: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for chapter in chapters:
        if "file" in chapter:
            yield chapter["file"]
            yield from _files(chapter.get("sections", ()))


def _parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_bytes(), "html.parser", from_encoding="utf-8")


def _mark(page: str) -> str:
    return page.replace("/", "-")


def _address(page: str, target: str, printed: set[str]) -> str:
    """Where a link of `page` leads in the PDF; empty where it leads out of it."""
    if target.startswith(("https:", "http:", "mailto:")):
        return target
    path, _, anchor = target.partition("#")
    there = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    there = there.removesuffix(".html")
    return f"#{_mark(there)}--{anchor}" if there in printed else ""


def _article(folder: Path, page: str, printed: set[str]) -> Tag:
    """The text of a page, its identifiers and links those of the whole."""
    article = _parsed(folder / f"{page}.html").find("article")
    assert isinstance(article, Tag), page
    for part in article.select(".headerlink, script, .above-input, will-it-fit, formula-sliders"):
        part.decompose()
    for part in article.find_all(id=True):
        part["id"] = f"{_mark(page)}--{part['id']}"
    for folded in article.find_all("details"):
        folded["open"] = ""
    for image in article.find_all("img"):
        source = (folder / page).parent / str(image["src"])
        image["src"], image["loading"] = source.resolve().as_uri(), "eager"
    for link in article.find_all("a", href=True):
        link["href"] = _address(page, str(link["href"]), printed)
        if not link["href"]:
            link.name = "span"
            del link["href"]
    article.name, article["id"] = "section", f"{_mark(page)}--"
    return article


def _heading(article: Tag) -> str:
    title = article.find("h1")
    return title.get_text(strip=True) if title else ""


def _needed(folder: Path, page: str) -> Iterator[str]:
    """The sheets by which a page of the site shows formulas and code, with absolute addresses."""
    for part in _parsed(folder / f"{page}.html").find_all("link", rel="stylesheet"):
        source = ((folder / page).parent / str(part["href"]).partition("?")[0]).resolve()
        if any(word in source.name for word in SHEETS):
            part["href"] = source.as_uri()
            yield str(part)


def printable_page(site: Path, tag: str, toc: dict[str, object]) -> str:
    """The one page that is printed, in the language `tag`."""
    place, language = LANGUAGES[tag]
    folder = site / place
    parts = [(name, [page for page in pages if (folder / f"{page}.html").is_file()])
             for name, pages in chapters(toc)]
    printed = {page for _, pages in parts for page in pages}
    front = _parsed(folder / "index.html")
    names = ["", *(caption.get_text(strip=True)  # as the sidebar of the language has them
                   for caption in front.select("nav.bd-links .caption-text"))]
    body, contents = [], []
    for name, (_, pages) in zip(names, parts, strict=True):
        articles = [_article(folder, page, printed) for page in pages]
        if name:
            contents.append(f'<li class="of-part">{name}</li>')
            body.append(f'<p class="part">{name}</p>')
        contents += [f'<li><a href="#{article["id"]}">{_heading(article)}</a></li>'
                     for article in articles]
        body += map(str, articles)
    edition = front.select_one(".edition")
    title = front.title.get_text(strip=True).rpartition("—")[2] if front.title else ""
    heads = "".join(_needed(folder, parts[1][1][0]))
    return (f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8">'
            f"<title>{title}</title>{heads}<style>{STYLE.read_text(encoding='utf-8')}</style></head>"
            f'<body><div class="cover"><h1>{title}</h1>'
            f"<p>{edition.get_text(' ', strip=True) if edition else ''}</p></div>"
            f"<nav><h1>{CONTENTS[tag]}</h1><ol>{''.join(contents)}</ol></nav>"
            f"{''.join(body)}</body></html>")


def print_page(page: Path, target: Path) -> None:
    """Print a page with Chromium. Raises SystemExit with a sentence where that is not possible."""
    browser = find_chromium()
    if browser is None:
        raise SystemExit(f"No PDF was made: Chromium is missing; {INSTALL} installs it.")
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update",
             f"--user-data-dir={profile}", "--virtual-time-budget=120000",
             f"--timeout={PATIENCE * 1000}", "--no-pdf-header-footer",
             "--generate-pdf-document-outline", f"--print-to-pdf={target}", page.as_uri()],
            capture_output=True, text=True, check=False, timeout=PATIENCE)
    if done.returncode or not target.is_file():
        raise SystemExit(f"No PDF was made: Chromium ended with {done.returncode}. "
                         f"{done.stderr.strip()[-500:]}")


def main() -> int:
    """Print the built book in both languages, or in one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="*", choices=[*LANGUAGES, []], help="default: both")
    parser.add_argument("--site", type=Path, default=SITE, help="the built site")
    args = parser.parse_args()
    if not (args.site / "index.html").is_file():
        sys.exit(f"{args.site} holds no built book: run make book first.")
    toc = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
    downloads = args.site / "downloads"
    downloads.mkdir(exist_ok=True)
    for tag in args.languages or LANGUAGES:
        target = downloads / f"will-it-fit-{tag}.pdf"
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "book.html"
            page.write_text(printable_page(args.site, tag, toc), encoding="utf-8")
            print_page(page, Path(folder) / "book.pdf")
            shutil.copyfile(Path(folder) / "book.pdf", target)
        print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
