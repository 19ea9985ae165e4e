"""Measure the speed of the working tree beside a reference commit, and record it.

Parts beside the commit, which run if no part is named: search, commands, catalogue, evaluations.
Each
question is asked in a temporary worktree of the commit and in the working tree in turn; rows are
processor times (user and system) of the fastest runs, and their ratio. Parts of the working tree
alone: steady, answers. The results file gets all rows at the end: those of a part
that is measured whole replace its earlier ones, other parts stay.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from benchmarks import answering, pairs, questions, steady_accuracy
from benchmarks.worktrees import Refused, Tree, reference
from catalogue.reading.files import write_whole
from tools.baseline import git

COMMIT = "81e9daf0"  # the reference unless another one is named
RESULTS = Path(__file__).with_name("results.json")
RUNS = 5
PAIRED = {"search": questions.searches, "commands": questions.commands,
          "catalogue": questions.catalogue, "evaluations": questions.evaluations}
ALONE = {"steady": steady_accuracy.measure, "answers": answering.measure}
Rows = dict[str, dict[str, Any]]


def main(argv: list[str] | None = None) -> int:
    """Measure, print and record. Returns 0, 1 if a part failed, or 2 for bad arguments."""
    args = argument_parser().parse_args(argv)
    if problem := argument_error(args):
        print(f"benchmarks: {problem}.", file=sys.stderr)
        return 2
    parts = args.parts or [*PAIRED]
    commit = git("rev-parse", args.beside)[:12]
    rows: Rows = {}
    complete = set()
    try:
        with (nullcontext() if PAIRED.keys().isdisjoint(parts)
              else reference(commit, args.python and args.python.absolute())) as then:
            print(f"{'':38} {'then':>10} {'now':>10}       ratio, beside {commit}")
            for part in parts:
                try:
                    for measured_rows in measured(part, then, args.runs):
                        for name, row in measured_rows.items():
                            rows[name] = row | ({"beside": commit} if "then" in row else {})
                            print(formatted(name, row), flush=True)
                    complete.add(part)
                except Refused as error:
                    print(f"benchmarks: {part} failed: {error}", file=sys.stderr)
    except Refused as error:
        print(f"benchmarks: no environment for {commit}, expected one by --python: {error}",
              file=sys.stderr)
    if rows:
        old = json.loads(args.output.read_text("utf-8")) if args.output.exists() else {}
        text = json.dumps(merged(old, rows, complete), indent=2, sort_keys=True, ensure_ascii=False)
        write_whole(args.output, f"{text}\n".encode())
    return int(len(complete) < len({*parts}))


def merged(old: Rows, new: Rows, complete: Iterable[str]) -> Rows:
    """Earlier rows with new ones, without those of `whole` parts and of parts that are gone."""
    remaining = {*PAIRED, *ALONE} - {*complete}
    return {name: row for name, row in old.items() if name.partition("_")[0] in remaining} | {
        name: {key: float(f"{value:.4g}") if isinstance(value, float) else value
               for key, value in row.items()} for name, row in new.items()}


def argument_parser() -> argparse.ArgumentParser:
    """Parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="what is measured")
    parser.add_argument("--beside", default=COMMIT, metavar="COMMIT",
                        help="reference commit (default %(default)s)")
    parser.add_argument("--python", type=Path, metavar="PATH",
                        help="interpreter with its packages (default: a new environment)")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N",
                        help="runs in each tree, at most (default %(default)s)")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="FILE",
                        help="results file (default benchmarks/results.json)")
    return parser


def argument_error(args: argparse.Namespace) -> str:
    """What is wrong with the arguments; empty where nothing is."""
    if unknown := sorted({*args.parts} - {*PAIRED, *ALONE}):
        return f"no part '{unknown[0]}', expected {', '.join([*PAIRED, *ALONE])}"
    if args.python and not args.python.is_file():
        return f"no interpreter '{args.python}'"
    if args.runs < 1:
        return f"--runs {args.runs}, expected at least 1"
    try:
        git("rev-parse", "--verify", f"{args.beside}^{{commit}}")
    except subprocess.CalledProcessError:
        return f"git knows no commit '{args.beside}'"
    return ""


def measured(part: str, then: Tree | None, runs: int) -> Iterator[Rows]:
    """Rows of a part, question by question."""
    if part in ALONE:
        yield {name: dict(zip(("value", "unit", "note"), row, strict=False))
               for name, row in ALONE[part]().items()}
    elif then:
        for question in PAIRED[part](then):
            yield pairs.compare(question, then, runs)


def formatted(name: str, row: dict[str, Any]) -> str:
    """One printed line of a row."""
    first, second = (f"{row[key]:10,.4g}" if key in row else " " * 10
                     for key in ("then", "now" if "now" in row else "value"))
    ratio = f"{row['ratio']:.2f}" if "ratio" in row else row.get("note", "")
    return f"{name:38} {first} {second} {row['unit']:6}{ratio}"


if __name__ == "__main__":
    sys.exit(main())
