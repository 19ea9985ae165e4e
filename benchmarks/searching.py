"""A search of ten million deployments, of one question that a public tool answers too, and what a
reader waits for at the prompt."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.reference.brute import agrees
from benchmarks.reference.peers import PEERS

MANY = ("r1-80-users-910b", "demand.users=null", "cards.most=96", "limits.tpot=null",
        "limits.ttft=null", "devices=ascend-910b1,ascend-910b2,ascend-910b3",
        "precisions=w8a8-int8,w4a8-int8,w4a16-awq,bf16",
        "objectives=throughput_per_card,tpot,ttft", "space.staged_groups=true",
        "space.staged_drafts=true", "space.pools=one")
QUESTION = ("v3-16xh200",)
WORKERS, TIMES = 2, 5
GOALS = 60  # that are also answered by plain loops
SEARCH = """
import json, resource, sys, time
from calc.searching.load_goal import load_goal
from calc.searching.search import search
goal = load_goal(sys.argv[1], sys.argv[3:])
start = time.perf_counter()
found = search(goal, workers=int(sys.argv[2]))
pairs = sum(found.pairs.tried) if found.pairs else 0
print(json.dumps([time.perf_counter() - start, found.funnel.deployments + pairs, max(
    resource.getrusage(who).ru_maxrss for who in (
        resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))]))
"""
ASKED = ("aiconfigurator", ["cli", "default", "--model-path", "deepseek-ai/DeepSeek-V3",
                            "--system", "h200_sxm", "--total-gpus", "16", "--isl", "4000", "--osl",
                            "1000", "--ttft", "2000", "--tpot", "30"])
PROMPT = {"estimate": ["estimate", "h200-r1-vllm-tp8"],
          "search": ["search", "r1-64-users-8xh20", "--set", "precisions=fp8-block,w8a8-int8"]}


def _searched(goal: tuple[str, ...], workers: int) -> tuple[float, float, int, float]:
    """Seconds, those of the processor in all of its processes with their start, deployments, and
    the memory of the largest process [B]; in a process of its own."""
    before = _processor()
    done = subprocess.run([sys.executable, "-c", SEARCH, goal[0], str(workers), *goal[1:]],
                          check=True, capture_output=True, text=True)
    seconds, count, kibibytes = json.loads(done.stdout)
    return seconds, _processor() - before, count, kibibytes * (1 << 10)


def _processor() -> float:
    """Seconds of the processor that processes took which have ended [s]."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


def _waited(arguments: list[str]) -> float:
    """Seconds of the processor of a command from the shell, the least of several runs."""
    passes = []
    for _ in range(TIMES):
        before = _processor()
        subprocess.run([sys.executable, "-m", "calc", *arguments], check=False,
                       capture_output=True)
        passes.append(_processor() - before)
    return min(passes)


def measure(peers: bool = False) -> dict[str, tuple]:
    """Seconds, deployments per second and memory; with ``peers`` a public tool's sweep beside."""
    one, _, count, _ = _searched(MANY, 1)
    two, busy, _, memory = _searched(MANY, WORKERS)
    asked, _, tried, _ = _searched(QUESTION, 1)
    brute = [agrees(seed) for seed in range(GOALS)]
    rows: dict[str, tuple] = {
        "search_deployments": (count, "1", "of one goal, all quantities of the front"),
        "search_seconds": (two, "s", "two processes"),
        "search_rate": (count / two, "deployments/s", "two processes"),
        "search_processor_seconds": (busy, "s", "of both processes together, with their start"),
        "search_two_over_one": (one / two, "1", "two processes against one, one after the other"),
        "search_memory": (memory, "B", "of the largest process"),
        "search_fronts_of_brute_force": (sum(each.same for each in brute), "1", (
            f"of {GOALS} goals, front and counts equal; of one pool at once or by a rate of "
            f"arrivals, and of two pools; {sum(not each.front for each in brute)} have no front")),
        "search_question_seconds": (asked, "s", f"V3 in FP8 on 16 H200, {tried:,} deployments"),
        **{f"shell_{name}_seconds": (_waited(arguments), "s", "of the processor")
           for name, arguments in PROMPT.items()}}
    return rows | (_peer(asked) if peers else {})


def _peer(ours: float) -> dict[str, tuple]:
    """The same question asked of a public tool, in an environment that is thrown away."""
    name, arguments = ASKED
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder) / "bin"
        try:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([tools / "python", "-m", "pip", "install", "-q", PEERS[name][0]],
                           check=True, capture_output=True)
            start = time.perf_counter()
            subprocess.run([tools / name, *arguments, "--save-dir", folder], check=True,
                           capture_output=True, cwd=folder)
        except subprocess.CalledProcessError as error:
            return {f"peer_{name}_sweep": (0.0, "s", f"does not run here: {error}")}
        seconds = time.perf_counter() - start
    return {f"peer_{name}_sweep": (seconds, "s", f"{PEERS[name][0]}, the same question"),
            f"search_question_over_peer_{name}": (seconds / ours, "1", "how many of ours in one")}
