"""Questions that both trees answer, by part: commands, searches, the catalogue, evaluations.

A question is a function from a tree to the processor time of each of its rows [s].
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.worktrees import WORKING, Tree, answer, cpu

Question = Callable[[Tree], dict[str, float]]
GOALS = Path(__file__).with_name("goals")
RATES = Path(__file__).with_name("rates.py")
SHIPPED = ("r1-80-users-910b", "r1-64-users-8xh20")  # goals of both trees, whose files differ
SAME = ("--set", "space.pools=one,two", "--set", "demand.length_distribution=constant")
AXES = {"precision": "fp8-block,w4a16-awq", "hbm_efficiency": "0.4..0.9:/10",
        "workload.concurrency": "2..200:+2", "workload.input_tokens": "128..3200:+128",
        "workload.output_tokens": "64..1280:+64"}  # 10^6 deployments
COMMANDS = {
    "start": "--help",
    "estimate": "estimate h200-r1-vllm-tp8",
    "simulate": "simulate s2-910b1-awq --rate 0.5 --requests 20000 --lengths constant",
    "simulate-ranks": "simulate h200-v32-vllm-dp8 --rate 20 --requests 5000 --lengths exponential",
    "capacity": "capacity s2-910b1-awq --load azure-conversation --daily-requests 50000",
    "sweep": "sweep h200-r1-vllm-tp8 --workers 1 --min tpot --max output_throughput "
             + " ".join(f"--axis {name}={values}" for name, values in AXES.items())}
VALIDATE = """
import sys
from calc.commands.main import main
sys.exit(any(main(["dev", "validate", "--system", name]) for name in sys.argv[1:]))
"""
LOAD = """
import sys
import catalogue
for name in sys.argv[1:]:
    catalogue.load_scenario(name).inputs()
"""


def searches(then: Tree) -> Iterator[Question]:
    """Shipped goals, each tree with its own file, then both with that of `then`; and `GOALS`.

    Defaults of pools and lengths differ, so the same goal states them.
    """
    for name in SHIPPED:
        yield _command(f"search_{name}", "search", name)
        if (goal := then.root / "params/goals" / f"{name}.yml").exists():
            yield _command(f"search_{name}-same-goal", "search", goal, *SAME)
    for goal in sorted(GOALS.glob("*.yml")):
        yield _command(f"search_{goal.stem}", "search", goal)


def commands(then: Tree) -> Iterator[Question]:
    """Commands from the shell; ``validate`` on the measured systems of `then`."""
    for name, arguments in COMMANDS.items():
        yield _command(f"commands_{name}", *arguments.split())
    results = json.loads(answer(then, "-m", "calc", "dev", "validate", "--json"))["results"]
    systems = {row["system"] for row in results}
    yield _timed("commands_validate", "-c", VALIDATE, *sorted(systems))


def catalogue(then: Tree) -> Iterator[Question]:
    """Reading the catalogue: the deployments that both trees have, all files of each tree."""
    first, second = ({path.stem for path in (tree.root / "params/scenarios").glob("*.yml")}
                     for tree in (then, WORKING))
    yield _timed("catalogue_deployments", "-c", LOAD, *sorted(first & second))
    yield _command("catalogue_check", "check")


def evaluations(_: Tree) -> Iterator[Question]:
    """Evaluated deployments: one by one, in arrays, decode steps."""
    yield lambda tree: {f"evaluations_{name}": seconds
                        for name, seconds in json.loads(answer(tree, RATES)).items()}


def _command(row: str, *arguments: str | Path) -> Question:
    workers = ("--workers", "1") if arguments[0] == "search" else ()
    return _timed(row, "-m", "calc", *arguments, *workers)


def _timed(row: str, *arguments: str | Path) -> Question:
    def ask(tree: Tree) -> dict[str, float]:
        return {row: cpu(tree, *arguments)}

    return ask
