"""One fixed set of questions to the engine, answered by whichever packages run this file.

    python -m tools.packages.question_set > answers.jsonl

Every line is a question and its answer in JSON. Each shipped deployment is estimated; besides,
every kind of arithmetic is asked for once: draws, roots, a search, a simulation, money, a sweep
that a cluster computes and writes.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Iterator
from typing import Any

from distributed import LocalCluster

from calc.commands.main import main as command
from catalogue.naming import names

OTHERS = (
    "decide s2-910b1-awq",
    "decide s2-910b1-awq --sensitivity",
    "decide h200-r1-sglang-mtp --breakeven mtp_acceptance --against workload.draft_tokens=0",
    "cost h200-r1-vllm-tp8 --utilisation 0.6",
    "simulate s2-910b1-awq --users 30",
    "search r1-64-users-8xh20",
    "capacity h200-r1-vllm-tp8 --load azure-conversation --users 40000 --questions 20",
    "discrepancy",
    "sweep h200-r1-vllm-tp8 --axis workload.concurrency=1..64 -o parts --scheduler CLUSTER",
)
CLUSTER = "CLUSTER"  # in a question, the address of one that is started here
RUN = ("asked", "version", "sweep")  # name a run: that address, what is installed, NumPy's version


def questions() -> Iterator[str]:
    """The words of each command."""
    yield from (f"estimate {name}" for name in names("scenarios"))
    yield from OTHERS


def answer(question: str) -> dict[str, Any]:
    """What a command answers, in a folder of its own. SystemExit where it does not."""
    with contextlib.ExitStack() as stack, contextlib.redirect_stdout(io.StringIO()) as said:
        stack.enter_context(contextlib.chdir(stack.enter_context(tempfile.TemporaryDirectory())))
        if CLUSTER in question:  # a command ends all processes that it finds
            cluster = stack.enter_context(LocalCluster(
                n_workers=1, threads_per_worker=1, dashboard_address=None))
            question = question.replace(CLUSTER, cluster.scheduler_address)
        code = command([*question.split(), "--json"])
    if code:
        raise SystemExit(f"{question} ended with {code}: {said.getvalue()}")
    found: dict[str, Any] = json.loads(said.getvalue())
    return {key: value for key, value in found.items() if key not in RUN}


def main() -> None:
    """Print the answers."""
    for question in questions():
        print(json.dumps({"question": question, "answer": answer(question)}), flush=True)


if __name__ == "__main__":
    main()
