"""The last exercise of each engineering chapter: a command to run, and what it answers.

The command stands on the page, a line in code; `command` is what it has to be.
"""

from __future__ import annotations

from dataclasses import dataclass

import calc
import catalogue
from calc.uncertainty import Amount
from notebooks.show.display import number
from notebooks.show.numbers import fmt_int, fmt_quantity, fmt_sig, fmt_time

H200, ASCEND = "h200-r1-vllm-tp8", "r1-8x910b2-together"
USERS = ("workload.concurrency=32",)
WATCHED = ("engine=vllm", "workload.concurrency=64", "workload.output_tokens=512")
TWO_H20 = ("device=nvidia-h20", "cluster.node=hgx-h20", "cluster.nodes=2",
           "workload.concurrency=64")
TPOT, TTFT = "steady_tpot", "steady_ttft"
ROOM, PLACES = "headroom_per_device", "max_concurrency"


@dataclass(frozen=True)
class Turn:
    """A deployment as it is and changed.

    Attributes:
        scenario: identifier of the deployment.
        after: settings of the command.
        said: quantities that the answer names.
        before: settings that it is held beside; none where only the command is asked.
        bounds: whether the answer names both ends of the intervals too.
        own: input of the deployment as it is that the question names [1].
    """

    scenario: str
    after: tuple[str, ...]
    said: tuple[str, ...]
    before: tuple[str, ...] | None = None
    bounds: bool = False
    own: str | None = None

    @property
    def command(self) -> str:
        """The line that a reader runs."""
        return " ".join(("will-it-fit estimate", self.scenario,
                         *(f"--set {setting}" for setting in self.after)))


TURNS = {
    "steady": Turn(H200, ("workload.concurrency=128",), (TTFT, "ttft")),
    "precision": Turn(ASCEND, ("precision=w4a16-awq",), (TPOT, ROOM), ()),
    "separation": Turn(ASCEND, ("workload.max_num_batched_tokens=512",), (TPOT, TTFT), (),
                       own="concurrency"),
    "experts": Turn(H200, (*USERS, "parallelism.expert_parallel=8"), (TPOT,), USERS,
                    own="input_tokens"),
    "host": Turn("s3-hybrid-910b4", ("workload.concurrency=4",), (TPOT, "tpot"),
                 ("workload.concurrency=1",)),
    "loading": Turn(H200, (*TWO_H20, "parallelism.pipeline_parallel=2"), (TPOT,),
                    (*TWO_H20, "parallelism.tensor_parallel=16")),
    "settings": Turn(ASCEND, ("workload.memory_utilization=0.95",), (TPOT, PLACES), (),
                     own="memory_utilization"),
    "monitoring": Turn(H200, (*WATCHED, "workload.input_tokens=4096"), (TTFT, TPOT),
                       (*WATCHED, "workload.input_tokens=2048")),
    "risk": Turn(ASCEND, (), ("steady_throughput",), bounds=True),
}


def turn(chapter: str) -> None:
    """The numbers of a chapter's last exercise: ``turn-before-…``, ``turn-after-…``, ``turn-own``.

    Raises KeyError for a chapter without one.
    """
    asked = TURNS[chapter]
    _said("after", asked, asked.after)
    if asked.before is not None:
        _said("before", asked, asked.before)
    if asked.own is not None:
        number("turn-own", catalogue.load_scenario(asked.scenario).inputs()[asked.own], fmt_sig)


def _said(when: str, asked: Turn, settings: tuple[str, ...]) -> None:
    """The quantities of one of the two deployments."""
    found = calc.estimate(catalogue.load_scenario(asked.scenario, overrides=settings)).quantities
    for name in asked.said:
        amount = found[name]
        key = f"turn-{when}-{name.replace('_', '-')}"
        _number(key, amount, amount.value)
        if asked.bounds:
            _number(f"{key}-low", amount, amount.low)
            _number(f"{key}-high", amount, amount.high)


def _number(key: str, amount: Amount, value: float) -> None:
    """One end or the middle of an amount, as its unit is printed."""
    if amount.unit == "s":
        number(key, value, fmt_time)
    elif amount.unit == "B":
        number(key, value, fmt_quantity, unit="B")
    else:
        number(key, round(value), fmt_int)
