"""Compare the working tree with a reference commit: pages, answers, quantities, deploys.

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
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.compare_pages import pages

ROOT = Path(__file__).parents[1]
SETTINGS = ROOT / "tools" / "baseline.yml"
FOLDER = ROOT / ".baseline"  # ignored by Git
SOURCE, TOOLS, STORE = FOLDER / "source", FOLDER / "path", FOLDER / "baseline.json"
SITE = Path("_build", "html")
TOLERANCE = 1e-9  # relative, of numbers
ZH = "zh/"
SHOWN = 8  # numbers of a page, lines of a file
LONGEST = 200  # characters of a value
MISSING = "(missing)"


class Difference(NamedTuple):
    """Two values that differ, and the path to them, such as ``tpot/unit``."""

    path: str
    old: Any
    new: Any


class Change(NamedTuple):
    """A difference: the identifier that ``dropped:`` names, and what differs."""

    name: str
    text: str


def differences(old: Any, new: Any, tolerance: float, path: str = "") -> Iterator[Difference]:
    """Yield what differs in nested values, numbers by more than a relative `tolerance`.

    A key that only one side has, and the surplus of a longer list, are `MISSING` on the other.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old | new:
            yield from differences(old.get(key, MISSING), new.get(key, MISSING), tolerance,
                                   f"{path}/{key}".lstrip("/"))
    elif isinstance(old, list) and isinstance(new, list):
        yield from differences(dict(enumerate(old)), dict(enumerate(new)), tolerance, path)
    elif {type(old), type(new)} <= {int, float}:
        both_nan = math.isnan(old) and math.isnan(new)
        if not both_nan and not math.isclose(old, new, rel_tol=tolerance):
            yield Difference(path, old, new)
    elif type(old) is not type(new) or old != new:
        yield Difference(path, old, new)


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
              **snapshot(SOURCE)}
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
    changes = [*value_changes(old, snapshot(ROOT))]
    if site.is_dir():
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
    """Differences of answers, quantities, the cross-check, formulas and deploy directories.

    Questions that one side lacks are left out.
    """
    for kind in ("answers", "quantities", "crosscheck", "formulas", "deploy"):
        before, after = old[kind], new[kind]
        if kind == "answers":
            before, after = ({question: answers[question] for question in before.keys() & after}
                             for answers in (before, after))
        for path, one, other in differences(before, after, TOLERANCE):
            if kind == "deploy" and isinstance(one, str) and isinstance(other, str):
                lines = Counter(other.splitlines())
                lines.subtract(one.splitlines())
                one, other = ([line.strip() for line, count in lines.items() if sign * count > 0]
                              for sign in (-1, 1))
            texts = (json.dumps(value, ensure_ascii=False)[:LONGEST] for value in (one, other))
            yield Change(f"{kind}/{path}", " → ".join(texts))
    for name, result in new["crosscheck"].items():
        if result != "agrees" and old["crosscheck"].get(name) == result:
            yield Change(f"crosscheck/{name}", result)


def report(changes: Iterable[Change], dropped: Mapping[str, str]) -> int:
    """Print differences by page and kind, and count the accepted ones. Returns 0 or 1."""
    used: Counter[str] = Counter()
    rejected: dict[str, list[Change]] = {}
    for change in changes:
        group = change.name.partition("#")[0]
        accepted = [pattern for pattern in dropped if change.name == pattern
                    or fnmatch.fnmatchcase(change.name, pattern)
                    or fnmatch.fnmatchcase(group, pattern)]
        used.update(accepted)
        if not accepted:
            rejected.setdefault(group, []).append(change)
    for group, several in rejected.items():
        shown = [f"{change.name.partition('#')[2]} {change.text}".strip() for change in several]
        more = f", … ({len(shown)} in all)" if len(shown) > SHOWN else ""
        print(f"{group}: {', '.join(shown[:SHOWN])}{more}")
    print(f"{sum(map(len, rejected.values()))} differences, {used.total()} accepted")
    for pattern in dropped.keys() - used.keys():
        print(f"dropped: {pattern} matches no difference")
    return int(bool(rejected))


def snapshot(root: Path) -> Any:
    """Output of this checkout's `tools.snapshot` about the packages below `root`."""
    return json.loads(python_in(root, "-m", "tools.snapshot", first=TOOLS, check=True).stdout)


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


def git(*arguments: str) -> str:
    """Output of git in this checkout. Raises CalledProcessError."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True,
                          text=True).stdout.strip()


def main(argv: list[str] | None = None) -> int:
    """Build or compare."""
    settings = yaml.safe_load(SETTINGS.read_text("utf-8"))
    parser = argparse.ArgumentParser(prog="python -m tools.baseline",
                                     description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", choices=("build", "compare"))
    parser.add_argument("--rev", default=settings["commit"], help="reference commit to build")
    parser.add_argument("--site", type=Path, help="built _build/html to take instead")
    args = parser.parse_args(argv)
    if args.command == "compare":
        return compare(settings, args.site or ROOT / SITE)
    build(args.rev, args.site)
    return 0


if __name__ == "__main__":
    sys.exit(main())
