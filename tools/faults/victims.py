"""The commands that are killed: each that computes or writes, and a cold build of the book."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
OUT = "OUT"  # in the words of a command: the folder that it writes to
PLAN, OTHER = "h200-r1-vllm-tp8", "s2-910b1-awq"
GOAL, SMALL = "r1-80-users-910b", "r1-16xh20-throughput"
FIT = PROJECT / "params" / "calibrations" / f"{OTHER}-tpot.yml"
CONFIG = PROJECT / "tests" / "catalogue" / "models" / "configs" / "deepseek-v3.2.json"
SWEPT = ("sweep", PLAN, "-o", f"{OUT}/parts", "--chunk=500")
SHORT = ("--axis=workload.concurrency=1..200", "--axis=workload.input_tokens=100..120:+1")
LONG = ("--axis=workload.concurrency=1..1000", "--axis=workload.input_tokens=100..250:+1")
ROOMS = ("params", "messages", "catalogue", "calc", "will_it_fit", "notebooks", "book")
BUILD = "build"  # of the book


def _is_told(process: int) -> bool:
    """Whether a command has begun to take care of a Ctrl-C, after which nothing is Python's own."""
    status = Path(f"/proc/{process}/status").read_text()
    waits = int(status.partition("SigBlk:")[2].split()[0], 16)
    return bool(waits >> 1 & 1)  # of the second signal


@dataclass(frozen=True)
class Victim:
    """A command.

    Attributes:
        words: of it, after ``python -m calc``; all of them for a build.
        given: a file that stands in its folder before.
        writes: whether something is in its folder afterwards.
    """

    words: Sequence[str]
    given: Path | None = None
    writes: bool = False

    @property
    def builds(self) -> bool:
        """Whether it is the build of the book and not a command of the runtime."""
        return self.words[0] == BUILD

    def command(self, out: Path) -> list[str]:
        """What is started, with the folder that it writes to."""
        if self.builds:
            return [str(Path(sys.executable).with_name("jupyter-book")), "build", f"{out}/book"]
        return [sys.executable, "-m", "calc", *(word.replace(OUT, str(out)) for word in self.words)]

    def prepare(self, out: Path) -> None:
        """Make the folder as it is before: a copy of the project for a build."""
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        if self.given:
            shutil.copy(self.given, out)
        for name in ROOMS if self.builds else ():
            shutil.copytree(PROJECT / name, out / name, ignore=shutil.ignore_patterns(
                "__pycache__", "chapters"))
        for path in (*PROJECT.glob("_*.yml"), PROJECT / "pyproject.toml") if self.builds else ():
            shutil.copy(path, out)

    @property
    def begun(self) -> Callable[[int, Path], bool]:
        """Whether the moments have begun at which it is killed: of a build with its kernels."""
        if self.builds:
            return lambda _, out: any(out.glob("book/chapters/.work-*/*.ipython"))
        return lambda process, _: _is_told(process)


VICTIMS = {
    "estimate": Victim(["estimate", PLAN]),
    "cost": Victim(["cost", PLAN]),
    "simulate": Victim(["simulate", OTHER, "--rate=1", "--requests=200"]),
    "search": Victim(["search", SMALL, "--workers=1", "-o", f"{OUT}/found"], writes=True),
    "search, two processes": Victim(
        ["search", GOAL, "--workers=2", "-o", f"{OUT}/found"], writes=True),
    "sweep": Victim([*SWEPT, *SHORT, "--workers=1", "--all"], writes=True),
    "sweep, two processes": Victim([*SWEPT, *LONG, "--workers=2"], writes=True),
    "capacity": Victim(["capacity", OTHER, "--load", "azure-conversation", "--requests=100000"]),
    "decide": Victim(["decide", PLAN]),
    "calibrate": Victim(["calibrate", f"{OUT}/{FIT.name}", "--write"], FIT, writes=True),
    "validate": Victim(["validate", "--system", OTHER]),
    "deploy": Victim(["deploy", PLAN, "-o", f"{OUT}/files"], writes=True),
    "import-model": Victim(["import-model", str(CONFIG), "-o", f"{OUT}/model.yml"], writes=True),
    "report": Victim(["report", PLAN, "-o", f"{OUT}/report.html"], writes=True),
    BUILD: Victim([BUILD]),
}
"""Name -> what is killed."""
