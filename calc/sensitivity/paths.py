"""What may be moved of a plan: an input, or several that move together, over a range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calc.sensitivity.plans import Plan
from catalogue import ParamsError, symbols
from catalogue.deployments.loading import ROOTS
from catalogue.entries.formulas import input_symbols, inputs_of
from catalogue.reading import units
from catalogue.reading.near import nearest_names

# several inputs that are one thing, moved in proportion; the first is what is told
GROUPS: dict[str, tuple[str, ...]] = {
    "link_bandwidth": ("pair_bandwidth", "device_link_bandwidth"),
    "all_links": ("network_bandwidth", "pair_bandwidth", "device_link_bandwidth"),
    "matrix_peak": ("routed_expert_peak", "shared_expert_peak", "dense_mlp_peak",
                    "attention_peak", "core_peak", "index_peak", "router_peak", "head_peak"),
}
PER_CARD = "requests_per_card"  # the same for plans of different sizes
LAID_OUT = ("tensor_parallel", "pipeline_parallel", "data_parallel", "expert_parallel",
            "expert_tensor_parallel", "decode_context_parallel", "redundant_experts",
            "shared_expert_ranks")
LENGTHS = ("input_tokens", "output_tokens", "context_tokens")
CHUNK = "max_num_batched_tokens"  # on which an engine's default share of the memory may depend
INTEGERS = ("concurrency", *LENGTHS, CHUNK)
CONTINUOUS = ("prefix_hit_share", "memory_utilization")  # plain numbers that are no mechanism
MOST_USERS, MOST_TOKENS = 4096, 131_072  # that are tried unless a range is given
FACTOR = 16.0  # likewise, a rate is tried from so many times less to so many times more
MARGIN = 1e-6  # shares stay so far from 0 and 1


@dataclass(frozen=True)
class Path:
    """What is moved, and how far.

    Attributes:
        name: as it is asked for.
        symbols: inputs, moved in proportion to what they are.
        unit: SI unit.
        low, high: the range that is searched, SI.
        integer: whether only whole numbers make sense.
    """

    name: str
    symbols: tuple[str, ...]
    unit: str
    low: float
    high: float
    integer: bool

    def moves(self, plan: Plan, values: np.ndarray) -> dict[str, np.ndarray]:
        """The inputs of a plan with the path at so many values, each of shape (n,).

        A prompt or an answer that grows makes the longest context grow with it; a context is
        that of a prompt before the same answer.

        Args:
            plan: whose inputs they are.
            values: of the first input, SI, shape (n,).
        """
        values = np.asarray(values, float)
        if self.name == PER_CARD:
            return {"concurrency": values * plan.cards}
        first = plan.inputs[self.symbols[0]]
        moved = {name: values * (plan.inputs[name] / first if first else 1.0)
                 for name in self.symbols}
        name = self.symbols[0]
        if name == CHUNK:
            return moved | plan.scenario.shares(moved)
        if name not in LENGTHS:
            return moved
        at: Mapping[str, float] = plan.inputs
        if name == "context_tokens":
            return {"input_tokens": values - at["output_tokens"], "context_tokens": values}
        rest = at["context_tokens"] - at[name]
        return {name: values, "context_tokens": values + rest}


def path_of(plan: Plan, name: str, between: str | None = None) -> Path:
    """What a path of a plan moves.

    >>> from calc.sensitivity.plans import plan_of
    >>> plan = plan_of("h200-r1-sglang-tp8")
    >>> path_of(plan, "workload.concurrency", "1, 64").high
    64.0
    >>> path_of(plan, "gemm_efficiency.fp8").symbols[0]
    'attention_gemm_efficiency'

    Args:
        plan: of which it is.
        name: a mechanism, an input, one of :data:`GROUPS`, or an override's path to an input.
        between: ``LOW,HIGH``, each a quantity with its unit; else where it could lie.

    Raises ParamsError for a path that is not one, or that only a layout changes.
    """
    knobs = {knob.name: knob for knob in plan.scenario.every_knob()}
    stem = name.removeprefix("mechanisms.")
    if stem not in knobs and name.partition(".")[0] in ROOTS:
        stem = name.rpartition(".")[2]
    if stem in LAID_OUT:
        raise ParamsError(f"--breakeven {name[:60]}: a layout has no values in between, expected "
                          "to change it by --against.")
    if stem == PER_CARD:
        moved: tuple[str, ...] = ("concurrency",)
    elif stem in GROUPS:
        moved = GROUPS[stem]
    elif stem in knobs and (stem not in input_symbols() or _movable(stem, knobs)):
        moved = knobs[stem].symbols
    elif stem in input_symbols() and _movable(stem, knobs):
        moved = (stem,)
    else:
        names = sorted({*knobs, *INTEGERS, PER_CARD, *CONTINUOUS, *GROUPS} - {*LAID_OUT})
        near = nearest_names(stem, names) or ["memory_bandwidth", *INTEGERS[:2]]
        raise ParamsError(f"--breakeven {name[:60]}: nothing of this deployment moves by that "
                          f"name, the nearest are {', '.join(near)}.")
    path = Path(name, moved, symbols()[moved[0]].unit, 0.0, 0.0, moved[0] in INTEGERS)
    low, high = given_range(path, between) if between else usual_range(plan, path)
    least = plan.inputs["output_tokens"] + 1 if moved[0] == "context_tokens" else 1.0
    low = max(low, least) if path.integer else low
    if not low < high:
        raise ParamsError(f"--between {between or name}: {low:g} is not below {high:g}, expected "
                          "LOW,HIGH.")
    return Path(name, moved, path.unit, low, high, path.integer)


def _movable(name: str, knobs: Mapping[str, object]) -> bool:
    """Whether an input takes values in between: a rate, a time, a share, a count of requests."""
    unit = symbols()[name].unit
    return (name in (*INTEGERS, *CONTINUOUS) or unit not in (*units.COUNTING, units.DIMENSIONLESS)
            or (name in knobs and name not in (*LAID_OUT, *inputs_of("switch"))))


def given_range(path: Path, between: str) -> tuple[float, float]:
    """The range of a path as written, ``LOW,HIGH``. Raises ParamsError."""
    low, comma, high = between.partition(",")
    try:
        if not comma:
            raise ValueError(f"'{between[:60]}' is not a range, expected LOW,HIGH")
        first, last = (quantity_in(end.strip(), path.unit) for end in (low, high))
    except ValueError as error:
        raise ParamsError(f"--between: {error}.") from None
    if min(first, last) < 0:
        raise ParamsError(f"--between {between}: below zero, expected zero or more.")
    return first, last


def quantity_in(text: str, unit: str) -> float:
    """A quantity as written, in SI; what is merely counted may be a plain number."""
    if not units.uncounted(units.dimensions(unit)) and units.split(text)[1] == units.DIMENSIONLESS:
        return float(units.parse(text, units.DIMENSIONLESS))
    return float(units.parse(text, unit))


def usual_range(plan: Plan, path: Path) -> tuple[float, float]:
    """Where a path could lie: of counts up to a usual most, of shares anywhere, else about it."""
    first = path.symbols[0]
    value = float(plan.inputs[first])
    if path.integer:
        return 1.0, float(MOST_USERS if first == "concurrency" else MOST_TOKENS)
    if path.unit == units.DIMENSIONLESS and value <= 1:
        return MARGIN, 1 - MARGIN
    if value > 0:
        return value / FACTOR, value * FACTOR
    raise ParamsError(f"--breakeven {path.name}: it is 0 here, expected --between LOW,HIGH.")
