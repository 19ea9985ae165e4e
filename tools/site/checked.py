"""The built site held against its bars: ``python -m tools.site.checked``, after the book is built.

One table (what, value, bar, met), then where each bar is missed; the exit code is 1 if one is.
What files say comes from `pages`, what a browser says from `visits`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.site import building, pages, printed, searching, visits
from tools.site.browser import INSTALL, Browser, find_chromium
from tools.site.visits import Visit

LISTS = printed.ROOT / "tests" / "book"
CLICKS, LONGEST, SHOWN = 2, 5, 12
PAIRS = 1000  # deployments that the calculators are held against the runtime with


class Bar(NamedTuple):
    """What is measured, in what, and the value that it may not pass."""

    what: str
    value: float
    unit: str = ""
    least: bool = False


class Row(NamedTuple):
    """A bar, what was measured (None: nothing could be) and where, worst first."""

    bar: Bar
    value: float | None
    where: Sequence[str] = ()

    @property
    def met(self) -> bool:
        """Whether the bar is reached."""
        if self.value is None:
            return False
        return self.value >= self.bar.value if self.bar.least else self.value <= self.bar.value


FOREIGN = Bar("requests to other hosts", 0)
BROKEN = Bar("broken internal links and anchors", 0)
ERRORS = Bar("console errors", 0)
SERIOUS = Bar("axe-core, serious nodes, both themes", 0)
MODERATE = Bar("axe-core, moderate nodes, both themes", 0)
IMPACTS = {SERIOUS: ("serious", "critical"), MODERATE: ("moderate",)}
FOUND = {lang: Bar(f"searches with a right page in the first three, {lang}", 149, least=True)
         for lang in searching.FOLDERS}
UNANSWERED = Bar("a reader's questions not answered within two clicks", 0)
MEDIAN_WEIGHT = Bar("page with all it loads, gzip, median", 200, "kB")
WORST_WEIGHT = Bar("page with all it loads, gzip, heaviest", 500, "kB")
LENGTH = Bar("longest chapter at 1440 px before unfolding", 14, "screens")
FIGURES = Bar("figures per 1,000 words of derivation", 1, least=True)
SHIFT = Bar("layout shift, worst", 0.02)
SIDEWAYS = Bar("pages that scroll sideways at 360, 768 or 1440 px", 0)
TALL = Bar("longest page on a phone", 15000, "px")
MEDIAN_DRAG = Bar("slider to picture, median", 16, "ms")
WORST_DRAG = Bar("slider to picture, worst", 50, "ms")
DIFFERENT = Bar("calculators' tests that fail against the runtime", 0)
FULL = Bar("build from nothing", 180, "s")
AGAIN = Bar("build with nothing changed", 5, "s")


def _worst(values: Iterable[tuple[float, str]], unit: str = "", most: int = LONGEST) -> list[str]:
    """The names with the greatest values, with these."""
    return [f"{name}: {value:.3g}{f' {unit}' if unit else ''}"
            for value, name in sorted(values, reverse=True)[:most] if value]


def _counted(bar: Bar, where: Iterable[str]) -> Row:
    every = list(where)
    return Row(bar, len(every), every)


def _toc() -> dict[str, Any]:
    return yaml.safe_load((printed.ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))


def read_rows(site: Path, every: pages.Site, toc: Mapping[str, Any]) -> Iterator[Row]:
    """What the files say."""
    yield _counted(BROKEN, pages.broken(site, every))
    questions = yaml.safe_load((LISTS / "questions.yml").read_text(encoding="utf-8"))
    yield _counted(UNANSWERED, (
        line for lang, asked in questions.items()
        for line in pages.unanswered(site, every, searching.FOLDERS[lang], asked, CLICKS)))
    derivations = next(files for name, files in printed.chapters(dict(toc))
                       if name == "Derivations")
    there = {name: every[f"{name}.html"] for name in derivations if f"{name}.html" in every}
    words = sum(page.words for page in there.values())
    yield Row(FIGURES, 1000 * sum(page.figures for page in there.values()) / words
              if words else None,
              [f"{name}: {page.figures} in {page.words} words" for name, page in there.items()])


def opened_rows(seen: Sequence[Visit], chapters: set[str]) -> Iterator[Row]:
    """What a browser says of the pages that it opened."""
    yield _counted(FOREIGN, (f"{one.name}: {url}" for one in seen for url in one.foreign))
    yield _counted(ERRORS, (f"{one.name}: {error}" for one in seen for error in one.errors))
    for bar, impacts in IMPACTS.items():
        found = Counter[str]()
        first: dict[str, str] = {}
        for one in seen:
            for theme, rule, impact, nodes, at in one.axe:
                if impact in impacts:
                    found[f"{rule}, {theme}"] += nodes
                    first.setdefault(f"{rule}, {theme}", f"{one.name} at {at}")
        yield Row(bar, found.total(),
                  [f"{rule}: {nodes} nodes, as on {first[rule]}"
                   for rule, nodes in found.most_common()])
    weights = [(one.bytes / 1e3, one.name) for one in seen if one.bytes]
    yield Row(MEDIAN_WEIGHT, statistics.median(weight for weight, _ in weights)
              if weights else None)
    yield Row(WORST_WEIGHT, max(weights)[0] if weights else None, _worst(weights, "kB"))
    lengths = [(one.height / visits.SCREEN, one.name) for one in seen
               if one.name.removeprefix("zh/").removesuffix(".html") in chapters]
    yield Row(LENGTH, max(lengths)[0] if lengths else None, _worst(lengths, "screens"))
    yield Row(SHIFT, max((one.shift for one in seen), default=None),
              _worst((one.shift, one.name) for one in seen))
    yield Row(TALL, max((one.tall for one in seen), default=None),
              _worst(((one.tall, one.name) for one in seen), "px"))
    yield _counted(SIDEWAYS, _worst(((one.overflow, one.name) for one in seen), "px",
                                    most=len(seen)))


def asked_rows(chromium: str, site: Path) -> Iterator[Row]:
    """What the search finds, and how fast a slider moves a picture."""
    searches = yaml.safe_load((LISTS / "searches.yml").read_text(encoding="utf-8"))
    for lang, queries in searches.items():
        with Browser(chromium) as browser:
            try:
                rows = list(searching.rows(browser, site, {lang: queries}))
            except (OSError, RuntimeError) as wrong:
                yield Row(FOUND[lang], None, [str(wrong)])
                continue
        yield Row(FOUND[lang], sum(row.right for row in rows),
                  [f"{row.query}: {', '.join(row.first) or 'nothing'}"
                   for row in rows if not row.right])
    took: list[float] = []
    where = ["chapters/calculators.html has no slider"]
    if (site / "chapters" / "calculators.html").is_file():
        with Browser(chromium, hasty=False) as browser:
            try:
                took, where = visits.dragged(browser, site), []
            except (OSError, RuntimeError) as wrong:
                where = [str(wrong)]
    yield Row(MEDIAN_DRAG, statistics.median(took) if took else None, where)
    yield Row(WORST_DRAG, max(took) if took else None, where)


def compared_row() -> Row:
    """What the calculators say beside the runtime, of many deployments."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(LISTS / "test_calculators.py")],
        cwd=printed.ROOT, env={**os.environ, "CALCULATORS": str(PAIRS)}, check=False,
        capture_output=True, text=True)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    skipped = " passed" not in done.stdout
    value = None if skipped else len(failed)
    return Row(DIFFERENT, value, failed or ([done.stdout[-500:]] if skipped else []))


def table(rows: Sequence[Row]) -> str:
    """What, value, bar, met: a line per row."""
    lines = [("", "value", "bar", "met")]
    for row in rows:
        unit = f" {row.bar.unit}" if row.bar.unit else ""
        value = "none" if row.value is None else f"{row.value:.4g}{unit}"
        bar = f"{'≥' if row.bar.least else '≤'} {row.bar.value:g}{unit}"
        lines.append((row.bar.what, value, bar, "yes" if row.met else "NO"))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) if place in (0, 3) else cell.rjust(width)
                               for place, (cell, width) in enumerate(zip(line, widths, strict=True))
                               ).rstrip() for line in lines)


def missed(rows: Sequence[Row], shown: int) -> Iterator[str]:
    """Where bars are missed; and always the longest chapters, which are what is cut next."""
    for row in rows:
        if row.where and (not row.met or row.bar is LENGTH):
            yield f"\n{row.bar.what}:"
            yield from (f"  {line}" for line in row.where[:shown])
            if len(row.where) > shown:
                yield f"  … and {len(row.where) - shown} more"


def check(site: Path, sample: int, jobs: int) -> list[Row]:
    """Measure everything that a built site can be asked. SystemExit where it cannot be."""
    if not (site / "index.html").is_file():
        raise SystemExit(f"{site} holds no built book: run make book first.")
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit(f"No page was opened: Chromium is missing; {INSTALL} installs it.")
    every, toc = pages.load(site), _toc()
    chapters = {name for part, files in printed.chapters(toc) if part for name in files}
    seen = list(visits.visits(chromium, site, pages.sampled(list(every), sample), jobs))
    return [*opened_rows(seen, chapters), *read_rows(site, every, toc),
            *asked_rows(chromium, site)]


def main() -> int:
    """Print the table; say whether every bar is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", nargs="?", type=Path, default=printed.SITE, help="the built site")
    parser.add_argument("--sample", type=int, default=0, metavar="N",
                        help="open about N pages of each language (default: all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="browsers at a time")
    parser.add_argument("--shown", type=int, default=SHOWN, help="places named for a missed bar")
    parser.add_argument("--calculators", action="store_true",
                        help=f"hold the calculators against the runtime, {PAIRS} deployments")
    parser.add_argument("--build", action="store_true", help="build twice in a copy of the tree")
    args = parser.parse_args()
    rows = check(args.site, args.sample, args.jobs)
    if args.calculators:
        rows.append(compared_row())
    if args.build:
        full, again = building.timed(printed.ROOT)
        rows += [Row(FULL, full), Row(AGAIN, again)]
    print(table(rows))
    print("\n".join(missed(rows, args.shown)))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
