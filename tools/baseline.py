"""Compare the working tree with a reference commit: pages, answers, quantities, deploys.

    python -m tools.baseline build [--rev REV]
    python -m tools.baseline compare

``build`` checks the commit of ``tools/baseline.yml`` (or REV) out below ``.baseline/``, builds its
book and stores the numbers of its pages and of `tools.snapshot`. ``compare`` prints each difference
by its path and exits with 1 if there is any that ``dropped:`` of ``tools/baseline.yml`` does not
accept.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from lxml import html

ROOT = Path(__file__).parents[1]
SETTINGS = ROOT / "tools" / "baseline.yml"
FOLDER = ROOT / ".baseline"  # ignored by Git
SOURCE, TOOLS, STORE = FOLDER / "source", FOLDER / "path", FOLDER / "baseline.json"
SITE = Path("_build", "html")
TOLERANCE = 1e-9  # relative, of numbers
LONGEST = 200  # characters of a value
MISSING = "(missing)"
_CLASS = "[contains(concat(' ', @class, ' '), ' {} ')]"
ARTICLE = "//article" + _CLASS.format("bd-article")
HIDDEN = ".//script | .//style | .//*" + _CLASS.format("cell_input")  # code may be written anew
NUMBER = re.compile(r"[-+−]?\d[\d,.]*(?:[eE][-+]?\d+)?")


class Difference(NamedTuple):
    """Two values that differ, and the path to them, such as ``quantities/s1-plan-c/tpot``."""

    path: str
    old: Any
    new: Any


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


def build(rev: str) -> None:
    """Check a commit out, build its book, and store its numbers."""
    if SOURCE.exists():
        git("worktree", "remove", "--force", str(SOURCE))
    git("worktree", "prune")
    git("worktree", "add", "--detach", str(SOURCE), rev)
    TOOLS.mkdir(exist_ok=True)
    (TOOLS / "tools").unlink(missing_ok=True)
    (TOOLS / "tools").symlink_to(ROOT / "tools")
    subprocess.run([Path(sys.executable).with_name("jupyter-book"), "build", "book/"],
                   cwd=SOURCE, check=True, env=os.environ | {"PYTHONPATH": str(SOURCE)})
    stored = {"commit": git("rev-parse", rev), "pages": page_numbers(SOURCE / SITE),
              **snapshot(SOURCE)}
    STORE.write_text(json.dumps(stored), "utf-8")
    print(f"{STORE.relative_to(ROOT)}: {len(stored['pages'])} pages, "
          f"{len(stored['answers'])} answers, {len(stored['quantities'])} deployments")


def compare(settings: Mapping[str, Any], site: Path) -> int:
    """Print what differs from the stored baseline. Returns 0, 1 if anything does, 2 without one."""
    if not STORE.exists():
        print("there is no baseline: run make baseline", file=sys.stderr)
        return 2
    old = json.loads(STORE.read_text("utf-8"))
    if old["commit"] != settings["commit"]:
        print(f"the baseline is of {old['commit'][:12]}; {SETTINGS.name} names another commit")
    if not (pages := page_numbers(site)):
        print(f"pages: not compared: no pages in {site}, run make book")
        old["pages"] = {}
    return report(changes(old, snapshot(ROOT) | {"pages": pages}), settings["dropped"])


def page_numbers(site: Path) -> dict[str, dict[str, int]]:
    """How often each number occurs in the articles of a built site, by page."""
    result = {}
    for path in sorted(path for path in site.rglob("*.html") if "_static" not in path.parts):
        root = html.document_fromstring(path.read_bytes(), html.HTMLParser(encoding="utf-8"))
        for article in root.xpath(ARTICLE):  # a search form has none
            for part in article.xpath(HIDDEN):
                part.drop_tree()
            text = " ".join(article.xpath(".//text()"))
            result[path.relative_to(site).as_posix()] = dict(
                Counter(number.rstrip(",.") for number in NUMBER.findall(text)))
    return result


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    """Differences of pages, answers, quantities, formulas and deploy directories.

    Questions that one side lacks are left out; files are compared as sets of lines; every
    cross-check has to agree.
    """
    questions = old["answers"].keys() & new["answers"].keys()
    sides = [{"pages": side["pages"],
              "answers": {question: side["answers"][question] for question in questions},
              "quantities": side["quantities"], "formulas": side["formulas"],
              "crosscheck": side["crosscheck"] if side is new else
              dict.fromkeys(new["crosscheck"], "agrees"),
              "deploy": {name: {path: Counter(map(str.strip, text.splitlines()))
                                for path, text in files.items()}
                         for name, files in side["deploy"].items()}} for side in (old, new)]
    yield from differences(sides[0], sides[1], TOLERANCE)


def report(several: Iterable[Difference], dropped: Mapping[str, str]) -> int:
    """Print differences and count the accepted ones. Returns 0 or 1."""
    used: Counter[str] = Counter()
    rejected = 0
    for path, *values in several:
        accepted = [pattern for pattern in dropped if fnmatch.fnmatchcase(path, pattern)
                    or fnmatch.fnmatchcase(path, f"{pattern}/*")]
        used.update(accepted)
        if not accepted:
            rejected += 1
            print(f"{path}:", " → ".join(json.dumps(value, ensure_ascii=False)[:LONGEST]
                                         for value in values))
    print(f"{rejected} differences, {used.total()} accepted")
    for pattern in dropped.keys() - used.keys():
        print(f"dropped: {pattern} matches no difference")
    return int(rejected > 0)


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
    args = parser.parse_args(argv)
    if args.command == "compare":
        return compare(settings, ROOT / SITE)
    build(args.rev)
    return 0


if __name__ == "__main__":
    sys.exit(main())
