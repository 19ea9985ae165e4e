"""Compare the working tree with a reference commit: pages, answers, quantities, deploys, speed.

    python -m tools.baseline build [--rev REV] [--site DIR]
    python -m tools.baseline compare [--site DIR]

``build`` checks the commit of ``tools/baseline.yml`` (or REV) out below ``.baseline/``, builds its
book and stores its pages and numbers; ``--site`` takes a built ``_build/html`` of that commit
instead. ``compare`` prints each difference by its identifier and exits with 1 if there is any that
``dropped:`` of ``tools/baseline.yml`` does not accept.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.compare_pages import pages
from tools.values import differences

ROOT = Path(__file__).parents[1]
SETTINGS = ROOT / "tools" / "baseline.yml"
FOLDER = ROOT / ".baseline"  # ignored by Git
SOURCE, TOOLS, STORE = FOLDER / "source", FOLDER / "path", FOLDER / "baseline.json"
RATES = ROOT / "tools" / "rates.py"
SITE = Path("_build", "html")
SOURCES = ("book", "calc", "catalogue", "kernels", "messages", "notebooks", "params", "_config.yml")
TOLERANCE = 1e-9  # relative, of numbers
RUNS = 7  # of each side, alternating
SLOWEST = 0.9  # rate of the working tree relative to the baseline
ZH = "zh/"
SHOWN = 8  # numbers of a page, lines of a file


class Change(NamedTuple):
    """A difference: the identifier that ``dropped:`` names, and what differs."""

    name: str
    text: str


def build(rev: str, site: Path | None) -> None:
    """Check a commit out, build its book unless `site` is given, and store its numbers."""
    if SOURCE.exists():
        git("worktree", "remove", "--force", str(SOURCE))
    git("worktree", "prune")
    git("worktree", "add", "--detach", str(SOURCE), rev)
    TOOLS.mkdir(exist_ok=True)
    (TOOLS / "tools").unlink(missing_ok=True)
    (TOOLS / "tools").symlink_to(ROOT / "tools")
    if site is None:
        subprocess.run([Path(sys.executable).with_name("jupyter-book"), "build", "book/"],
                       cwd=SOURCE, check=True, env=os.environ | {"PYTHONPATH": str(SOURCE)})
    stored = {"commit": git("rev-parse", rev), "numbers": numbers(site or SOURCE / SITE),
              **_snapshot(SOURCE)}
    STORE.write_text(json.dumps(stored), "utf-8")
    print(f"{STORE.relative_to(ROOT)}: {len(stored['numbers'])} pages, "
          f"{len(stored['answers'])} answers, {len(stored['quantities'])} deployments")


def compare(settings: Mapping[str, Any], site: Path) -> int:
    """Print what differs from the stored baseline. Returns 0, 1 if anything does, 2 without one."""
    if not STORE.exists():
        print("there is no baseline: run make baseline", file=sys.stderr)
        return 2
    old = json.loads(STORE.read_text("utf-8"))
    if old["commit"] != settings["commit"]:
        print(f"the baseline is of {old['commit'][:12]}; {SETTINGS.name} names another commit")
    new = _snapshot(ROOT)
    if asked := sorted(new["answers"].keys() - old["answers"].keys()):
        questions = FOLDER / "questions.json"
        questions.write_text(json.dumps(asked), "utf-8")
        old["answers"] |= _snapshot(SOURCE, "--questions", str(questions))
        STORE.write_text(json.dumps(old), "utf-8")
    runs = [(_rates(SOURCE), _rates(ROOT)) for _ in range(RUNS)]
    changes = [*value_changes(old, new), *speed_changes(runs)]
    if _is_built(site):
        changes += page_changes(old["numbers"], numbers(site), settings["pages"])
    else:
        changes.append(Change("pages", f"not compared: no pages in {site}, run make book"))
    return report(changes, settings["dropped"])


def numbers(site: Path) -> dict[str, dict[str, int]]:
    """How often each number occurs on each page of a built site."""
    return {name: dict(Counter(page.numbers())) for name, page in pages(site).items()}


def page_changes(old: Mapping[str, Mapping[str, int]], new: Mapping[str, Mapping[str, int]],
                 moved: Mapping[str, str]) -> Iterator[Change]:
    """Numbers that pages lost or gained; `moved` maps old pages to new ones in both languages."""
    targets = {f"{zh}{page}": f"{zh}{target}" for page, target in moved.items() for zh in ("", ZH)}
    expected: dict[str, Counter[str]] = {}
    for page, count in old.items():
        expected.setdefault(targets.get(page, page), Counter()).update(count)
    for page in sorted(expected.keys() | new.keys()):
        if page not in new or page not in expected:
            yield Change(f"pages/{page}", "new page" if page in new else "missing page")
            continue
        count = Counter(new[page])
        for sign, rest in (("lost", expected[page] - count), ("gained", count - expected[page])):
            for number in rest:
                yield Change(f"pages/{page}#{number}", f"{sign} {rest[number]}×")


def value_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Differences of answers, quantities, the cross-check, formulas and deploy directories."""
    for kind in ("answers", "quantities", "crosscheck", "formulas", "deploy"):
        before = old[kind]
        if kind == "answers":  # questions that are no longer asked
            before = {question: before[question] for question in new[kind]}
        for path, one, other in differences(before, new[kind], TOLERANCE):
            if kind == "deploy" and isinstance(one, str) and isinstance(other, str):
                lines = Counter(other.splitlines())
                lines.subtract(one.splitlines())
                one, other = ([line.strip() for line, count in lines.items() if sign * count > 0]
                              for sign in (-1, 1))
            yield Change(f"{kind}/{path}", f"{_short(one)} → {_short(other)}")
    for name, result in new["crosscheck"].items():
        if result != "agrees" and old["crosscheck"].get(name) == result:
            yield Change(f"crosscheck/{name}", result)


def speed_changes(runs: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]
                  ) -> Iterator[Change]:
    """Rates below `SLOWEST` of the baseline, by the median ratio of runs; prints the ratios.

    Args:
        runs: evaluations per second of the baseline and of the working tree, taken in turn.
    """
    for name in runs[0][0]:
        ratio = statistics.median(new[name] / old[name] for old, new in runs)
        print(f"speed/{name}: {ratio:.2f} of the baseline (median of {len(runs)} pairs of runs)")
        if ratio < SLOWEST:
            yield Change(f"speed/{name}", f"{ratio:.2f} of the baseline")


def report(changes: Iterable[Change], dropped: Mapping[str, str]) -> int:
    """Print differences by page and kind, and count the accepted ones. Returns 0 or 1."""
    used: Counter[str] = Counter()
    found: dict[str, list[Change]] = {}
    for change in changes:
        accepted = [pattern for pattern in dropped if change.name == pattern
                    or fnmatch.fnmatchcase(change.name, pattern)
                    or fnmatch.fnmatchcase(change.name.partition("#")[0], pattern)]
        used.update(accepted)
        if not accepted:
            found.setdefault(change.name.partition("#")[0], []).append(change)
    for name, several in found.items():
        shown = [f"{change.name.partition('#')[2]} {change.text}".strip() for change in several]
        more = f", … ({len(shown)} in all)" if len(shown) > SHOWN else ""
        print(f"{name}: {', '.join(shown[:SHOWN])}{more}")
    print(f"{sum(map(len, found.values()))} differences, {used.total()} accepted")
    for pattern in dropped.keys() - used.keys():
        print(f"dropped: {pattern} matches no difference")
    return int(bool(found))


def _is_built(site: Path) -> bool:
    """Whether a site has pages; prints a note if they are older than the sources."""
    if not (files := [*site.rglob("*.html")]):
        return False
    tracked = git("ls-files", *SOURCES).splitlines()
    newest = max((path for name in tracked if (path := ROOT / name).is_file()),
                 key=lambda path: path.stat().st_mtime)
    if newest.stat().st_mtime > max(path.stat().st_mtime for path in files):
        print(f"{site} is older than {newest.relative_to(ROOT)}: run make book")
    return True


def _snapshot(root: Path, *arguments: str) -> Any:
    """Output of `tools.snapshot`, of this checkout, about the packages below `root`."""
    done = python_in(root, "-m", "tools.snapshot", *arguments, first=TOOLS, check=True)
    return json.loads(done.stdout)


def _rates(root: Path) -> Any:
    """Evaluations per second of processor time by the packages below `root`: `tools.rates`."""
    return json.loads(python_in(root, RATES, check=True).stdout)


def python_in(root: Path, *arguments: str | Path, python: Path | str = sys.executable,
              first: Path | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python on one core in a checkout, with its packages.

    Args:
        root: the checkout.
        arguments: of the interpreter.
        python: the interpreter.
        first: a folder of packages that come before those of the checkout.
        options: of `subprocess.run`.
    """
    path = os.pathsep.join(str(folder) for folder in (first, root) if folder)
    return subprocess.run(
        [python, "-P", *arguments], cwd=root, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}, **options)


def _short(value: Any) -> str:
    """A value in at most one line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"


def git(*arguments: str) -> str:
    """Output of git in this checkout. Raises CalledProcessError."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True,
                          text=True).stdout.strip()


def main(argv: list[str] | None = None) -> int:
    """Build or compare."""
    settings = yaml.safe_load(SETTINGS.read_text("utf-8"))
    parser = argparse.ArgumentParser(prog="python -m tools.baseline",
                                     description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    parts = {name: commands.add_parser(name) for name in ("build", "compare")}
    parts["build"].add_argument("--rev", default=settings["commit"], help="reference commit")
    for part in parts.values():
        part.add_argument("--site", type=Path, help="built _build/html to take instead")
    args = parser.parse_args(argv)
    if args.command == "compare":
        return compare(settings, args.site or ROOT / SITE)
    build(args.rev, args.site)
    return 0


if __name__ == "__main__":
    sys.exit(main())
