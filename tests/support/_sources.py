"""Read what a page of the book is made from: its cells, and the structure of its prose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("en", "zh")

FENCE = re.compile(r"^\s*(```+|~~~+)")
HEADING = re.compile(r"^(#{1,6})\s+\S")
LABEL = re.compile(r"^\(([^)\s]+)\)=\s*$")
NAME = re.compile(r"^\s*:(?:name|label):\s*(\S+)\s*$")
EQUATION = re.compile(r"^\s*\$\$\s*\(([^)\s]+)\)\s*$")
DIRECTIVE = re.compile(r"^\s*(?::{3,}|`{3,})\{([\w:-]+)\}\s*(\S*)")
GLUE = re.compile(r"\{glue:?\w*\}`([^`]+)`")


@dataclass(frozen=True)
class Cell:
    """One cell of a page: 'markdown' or 'code', its languages, its text."""

    kind: str
    languages: tuple[str, ...]
    text: str


def pages() -> list[Path]:
    """List the sources of all pages: notebooks, cells of single pages, and prose."""
    folders = ("notebooks", "notebooks/supplements", "book")
    return sorted(page for folder in folders for page in (ROOT / folder).glob("*.md"))


def cells(page: Path) -> list[Cell]:
    """Return the cells of a page that are not empty."""
    notebook = jupytext.reads(page.read_text(encoding="utf-8"), fmt="md:myst")
    return [
        Cell(cell.cell_type,
             tuple(tag for tag in cell.metadata.get("tags", []) if tag in LANGUAGES), cell.source)
        for cell in notebook.cells if cell.source.strip()
    ]


def prose_lines(text: str) -> list[str]:
    """Return the lines of Markdown that are not inside a code fence; directives count as prose."""
    kept: list[str] = []
    closing = ""
    for line in text.splitlines():
        fence = FENCE.match(line)
        if closing:
            if line.strip() == closing:
                closing = ""
        elif fence and not DIRECTIVE.match(line):
            closing = fence[1]
        else:
            kept.append(line)
    return kept


def structure(text: str) -> dict[str, list[str]]:
    """Describe a prose cell by what both languages must share, in order of appearance."""
    parts: dict[str, list[str]] = {
        "headings": [], "labels": [], "names": [], "equations": [], "directives": [],
    }
    for line in prose_lines(text):
        if match := HEADING.match(line):
            parts["headings"].append(match[1])
        elif match := LABEL.match(line):
            parts["labels"].append(match[1])
        elif match := NAME.match(line):
            parts["names"].append(match[1])
        elif match := EQUATION.match(line):
            parts["equations"].append(match[1])
        elif match := DIRECTIVE.match(line):
            key = without_language(match[2]) if match[1].startswith("glue") else ""
            parts["directives"].append(f"{match[1]} {key}".strip())
    return parts


def without_language(key: str) -> str:
    """Return the key that the languages share: of 'curve_en' and 'curve_zh' it is 'curve'."""
    return re.sub(r"_(en|zh)$", "", key)


def glue_keys(text: str) -> set[str]:
    """Return the keys of the numbers that a prose cell takes from code, formats left out."""
    keys = {re.sub(r"(?<=[^:]):[^:]+$", "", key) for key in GLUE.findall(text)}
    return {without_language(key) for key in keys}


def bare_headings(text: str) -> list[str]:
    """Return the headings of a prose cell that no label precedes."""
    lines = [line for line in prose_lines(text) if line.strip()]
    return [line for before, line in zip(["", *lines], lines, strict=False)
            if HEADING.match(line) and not LABEL.match(before)]
