"""Processor time of questions in two trees, measured in turn."""

from __future__ import annotations

from typing import Any

from benchmarks.questions import Question
from benchmarks.worktrees import WORKING, Refused, Tree, used

FEWEST = 2  # runs in each tree
PATIENCE = 60.0  # of processor time for one question, after which no further run begins [s]


def compare(question: Question, then: Tree, runs: int) -> dict[str, dict[str, Any]]:
    """Rows of a question: the fastest run in each tree, and the working tree's time over the other.

    Args:
        question: returns processor times by row [s].
        then: the reference; where it refuses the question, rows say so and have no ratio.
        runs: in each tree, at most.

    Raises Refused where the working tree refuses.
    """
    trees, start, refusal = [then, WORKING], used(), ""
    times: dict[Tree, list[dict[str, float]]] = {tree: [] for tree in trees}
    for run in range(runs):
        if run >= FEWEST and used() - start > PATIENCE:
            break
        for tree in tuple(trees):
            try:
                times[tree].append(question(tree))
            except Refused as error:
                if tree is WORKING:
                    raise
                trees, refusal = [WORKING], str(error)
    best = {tree: {name: min(row[name] for row in rows) for name in rows[0]}
            for tree, rows in times.items() if rows}
    rows = {}
    for name, now in best[WORKING].items():
        rows[name] = {"unit": "s", "now": now}
        if refusal:
            rows[name]["note"] = f"refused by the reference: {refusal}"
        else:
            first = best[then][name]
            rows[name] |= {"then": first, "ratio": now / first}
    return rows
