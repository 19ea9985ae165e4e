"""The same numbers with the oldest and newest packages: ``python -m tools.packages.oldest_newest``.

For each Python an environment with the oldest and one with the newest versions that
``requirements-engine.in`` and ``requirements-analysis.in`` allow is made in a temporary folder, by
uv, of what is published as wheels. Each answers the questions of ``tools.answers`` that ask for
JSON, and every number is held against those of this environment, which has the pinned versions. A
Python that is not found, or a package that is not to be had, is printed as not run, with the
reason. What came out is kept in ``oldest_newest.json`` beside this file; the exit code is 1 where
anything differs or fails. Arguments are the Pythons to try, ``3.12`` or a path.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from tools.answers.held import TOLERANCE, held
from tools.answers.questions import QUESTIONS
from tools.packages.environments import ROOT, UV, EndedError, made, run
from tools.records import keep

RECORD = Path(__file__).with_name("oldest_newest.json")
REQUIREMENTS = ("requirements-engine.in", "requirements-analysis.in")
WANTED = [part for name in REQUIREMENTS for part in ("-r", name)]
PYTHONS = ("3.11", "3.12", "3.13")
ASKED = [question for question in QUESTIONS if "--json" in question]  # numbers, not their layout
ENDS = {"oldest": "lowest-direct", "newest": "highest"}  # as uv calls them


def answers(python: Path) -> dict[str, Any]:
    """Question -> answer of an interpreter and its packages. Raises EndedError."""
    lines = map(json.loads, run(python, "-m", "tools.answers", *ASKED).splitlines())
    return {line["question"]: line["answer"] for line in lines}


def versions(python: Path) -> dict[str, str]:
    """What an environment has of the packages that the requirements name, and its Python."""
    named = {Requirement(line).name.replace(".", "-") for name in REQUIREMENTS
             for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
             if not line.startswith("#")}
    listed = json.loads(run(UV, "pip", "list", "--format", "json", "--python", python))
    number = run(python, "-c", "import platform; print(platform.python_version())").strip()
    return {"python": number} | {each["name"]: each["version"] for each in listed
                                 if each["name"].lower() in named}


def tried(python: str, end: str, reference: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What came out of one environment, or why it is not there; `reference` gives the answers that
    its own are held against.
    """
    row: dict[str, Any] = {"python": _minor(python), "packages": end}
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = made(Path(folder) / "environment", python, "--only-binary", ":all:",
                         "--resolution", ENDS[end], *WANTED)
        except EndedError as error:
            return row | {"not_run": str(error)}
        row["versions"] = versions(found)
        try:
            result = held(reference(), answers(found))
        except EndedError as error:
            return row | {"same": False, "failed": str(error)}
    return row | {"same": result.same, **result._asdict()}


def _minor(python: str) -> str:
    """``3.12`` of that or of the path of one."""
    given = run(Path(python), "--version") if Path(python).is_absolute() else python
    return ".".join(given.split()[-1].split(".")[:2])


def said(row: dict[str, Any]) -> str:
    """A line on one environment."""
    begin = f"Python {row['python']}, {row['packages']} packages: "
    for reason in ("not_run", "failed"):
        if reason in row:
            return f"{begin}{reason.replace('_', ' ')}: {row[reason]}"
    others = f", beside numbers {', '.join(row['others'])}" if row["others"] else ""
    return (f"{begin}{row['values']} numbers, apart by at most {row['largest']:.1e} "
            f"{row['at']}{others}")


def main(argv: Sequence[str] | None = None) -> int:
    """Make, ask and compare; 1 where anything differs or fails, or nothing could be run."""
    parser = argparse.ArgumentParser(prog="python -m tools.packages.oldest_newest",
                                     description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pythons", nargs="*", default=PYTHONS, help="3.12, or a path")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="environments")
    given = parser.parse_args(argv)
    here = Path(sys.executable)
    rows: list[dict[str, Any]] = []
    with ThreadPoolExecutor(given.at_once) as pool:
        asked = pool.submit(answers, here)
        begun = [pool.submit(tried, python, end, asked.result)
                 for python, end in itertools.product(given.pythons, ENDS)]
        count, reference = len(asked.result()), versions(here)
        for each in begun:
            rows.append(each.result())
            print(said(rows[-1]), flush=True)
            keep(RECORD, tolerance=TOLERANCE, questions=count, reference=reference, runs=rows)
    ran = [row["same"] for row in rows if "same" in row]
    return int(not ran or not all(ran))


if __name__ == "__main__":
    sys.exit(main())
