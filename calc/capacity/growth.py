"""A deployment on more and more cards: the best layout of each number, and what binds it.

Every valid cut of so many cards is evaluated at every number of requests that is tried: what is
best here is best of all that the runtime can lay out. Users come independently of each other, and
limits hold for the means of a steady state in closed form, whose doubts are told. Where prompts are
prefilled beside decode, ranks that step together in a pipeline are left out: there the closed form
is too fast near saturation (by a third, held against the simulation). A step may draft a token, and
overlap two micro-batches; redundant experts are not tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from calc.capacity.day import MOST_OVERFLOW, Limits
from calc.capacity.tables import Cut, Tables, Way, is_wide, layouts, requests_of, ways
from calc.layouts.feasible import HEADROOM, has_room
from calc.physics.breakdown import bottleneck
from calc.physics.inputs import Inputs
from calc.serving.evaluate import doubt_words, doubts, evaluate
from catalogue import Scenario
from catalogue.deployments.cuts import Cut as Laid
from catalogue.deployments.cuts import written

SIZES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384)  # cards that are tried
STEADY = (HEADROOM, "cache_overflow", "steady_ttft", "steady_tpot",
          "steady_request_throughput")
TTFT, TPOT, MEMORY, ENGINE = "ttft", "tpot", "memory_capacity", "max_num_seqs"


@dataclass(frozen=True)
class Best:
    """The layout of so many cards that finishes most requests within limits.

    Attributes:
        devices: cards [1].
        cut: tensor, pipeline, data and expert parallel size.
        requests: in flight [request].
        rate: that it finishes [request/s].
        per_device: output tokens per card [token/s].
        ttft, tpot: means of a steady state [s].
        binds: what more requests would break: ``ttft``, ``tpot``, ``memory_capacity`` or
            ``max_num_seqs``.
        resource: that binds the largest part of its decode step.
        wide: whether its experts lie on more cards than one server has.
        tried: layouts and numbers of requests that were evaluated [1].
        way: drafted tokens of a step, and the micro-batches that it is run in [1].
        doubts: why a simulation may give others, by name of
            ``calc.serving.evaluate.doubt_words``;
            of so many requests it takes too long to be made here.
    """

    devices: int
    cut: Cut
    requests: int
    rate: float
    per_device: float
    ttft: float
    tpot: float
    binds: str
    resource: str
    wide: bool
    tried: int
    way: Way
    doubts: tuple[str, ...] = ()

    @property
    def layout(self) -> str:
        """``TP8×DP2/EP16``."""
        return self.layouts["en"]

    @property
    def layouts(self) -> dict[str, str]:
        """:attr:`layout` in both languages."""
        return written(Laid(*self.cut))

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return {**vars(self), "cut": list(self.cut), "layout": self.layout,
                "doubts": {name: doubt_words()[name][0] for name in self.doubts}, **_told(self.way)}


def _told(way: Way) -> dict[str, Any]:
    return {"way": {"draft_tokens": way[0], "micro_batches": way[1]}}


def best(scenario: Scenario, devices: int, limits: Limits, narrow: bool = False,
         tables: Tables | None = None) -> Best | None:
    """The best layout of so many cards; None where none holds the model within limits.

    Args:
        scenario: the deployment: its model, card, server, precision and workload hold.
        devices: cards [1].
        limits: of the means; ``limits.share`` is not looked at.
        narrow: whether the experts of a replica stay in one server.
        tables: of the deployment, where several answers share them.
    """
    choices = ways(scenario, layouts(scenario, devices, narrow, mixed=True))
    if not choices:
        return None
    tables, counts = tables or Tables(scenario), requests_of(choices)
    given: dict[str, Any] = {"open_arrivals": 1, "think_time": 0}
    found = tables.sweep(devices, choices, counts, STEADY, **given)
    rates = found["steady_request_throughput"]
    fits = has_room(found)
    room = fits | ((found["cache_overflow"] <= MOST_OVERFLOW) & fits[:, :1])
    good = room & (found["steady_ttft"] <= limits.ttft) & (found["steady_tpot"] <= limits.tpot)
    if not (good & (rates > 0)).any():
        return None
    row, column = (int(at) for at in np.unravel_index(
        np.where(good, rates, -1.0).argmax(), rates.shape))
    inputs = {**tables.rows(devices, choices)[row], **given,
              "concurrency": float(counts[row, column])}
    answer = float(inputs["output_tokens"])
    ttft, tpot, rate = (float(found[name][row, column]) for name in (
        "steady_ttft", "steady_tpot", "steady_request_throughput"))
    cut, way = choices[row]
    everything = evaluate(inputs, scenario.model.attention)
    q = Inputs({name: np.float64(value) for name, value in inputs.items()})
    return Best(devices, cut, int(counts[row, column]), rate, rate * answer / devices,
                ttft, tpot, _binding(found, room, row, column, limits),
                bottleneck(inputs, everything), is_wide(scenario, cut), counts.size, way,
                tuple(name for name, is_met in doubts(q, everything).items() if is_met))


def _binding(found: Mapping[str, np.ndarray], room: np.ndarray, row: int, column: int,
             limits: Limits) -> str:
    """What the next number of requests of a layout would break."""
    if column + 1 == room.shape[1]:
        return ENGINE
    after = column + 1
    if found["steady_tpot"][row, after] > limits.tpot:
        return TPOT
    if found["steady_ttft"][row, after] > limits.ttft:
        return TTFT
    return ENGINE if room[row, after] else MEMORY


@cache
def sizes_of(per_node: int, most: int = SIZES[-1]) -> tuple[int, ...]:
    """Numbers of cards that are whole servers, up to the most [1]."""
    return tuple(size for size in SIZES if size <= most and size % per_node == 0)
