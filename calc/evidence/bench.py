"""Results of a bench beside the predictions of its plan, and the mechanisms that explain them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from calc.evidence.systems import System
from catalogue import ParamsError
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.reading import jsonfile
from catalogue.reading.files import read_small
from catalogue.reading.units import human

PLAN = "plan.json"
ENDINGS = (".json", ".jsonl")
METRICS = {"ttft": "s", "tpot": "s", "output_throughput": "token/s"}
COLUMNS = {"concurrency": "request", "input_tokens": "token", "output_tokens": "token",
           "requests": "request", **METRICS}
# as vLLM's and SGLang's clients write them, with the factor to SI
_WRITTEN = {"ttft": ("mean_ttft_ms", 1e-3), "tpot": ("mean_tpot_ms", 1e-3),
            "output_throughput": ("output_throughput", 1.0)}
MOST = 1e12  # tokens, requests or milliseconds: no bench counts as many
FEWEST_ALIKE = 3  # runs that show their common error
DIFFERS = 0.01  # relative error of a mean length, from which on it is reported
MOST_FITTED = 2  # mechanisms that a handful of runs determine
ROWS_PER_MECHANISM = 3

_COUNT, _POSITIVE = Field(strict=True, ge=0, le=MOST), Field(strict=True, gt=0, le=MOST)
Count = Annotated[int, _COUNT] | Annotated[float, _COUNT]
Positive = Annotated[int, _POSITIVE] | Annotated[float, _POSITIVE]
COUNT: TypeAdapter[float] = TypeAdapter(Count)
Asked = Literal["concurrency", "input_tokens", "output_tokens", "requests"]


class Predicted(BaseModel):
    """A prediction of a plan, in SI units."""

    value: Positive
    low: Positive
    high: Positive


class Run(BaseModel):
    """A run of a plan."""

    name: Annotated[str, Field(pattern="^[^/]*$")]
    asked: Annotated[dict[Asked, Positive], Field(min_length=4)]
    predicted: dict[Annotated[str, Field(pattern=f"^({'|'.join(METRICS)})$")], Predicted]
    spread: Count
    shared: Count
    rate: Count | None = None
    scatter: dict[str, Count] = Field(default_factory=dict)


class Plan(BaseModel):
    """A plan that ``deploy`` wrote."""

    scenario: str
    engine: str
    overrides: list[str]
    runs: Annotated[list[Run], Field(min_length=1)]


@dataclass(frozen=True)
class Measured:
    """A run as it was measured, beside its plan.

    Attributes:
        run: the plan.
        counted: mean lengths and answered requests, as the client counted them.
        values: by metric, SI, above 0; absent where the client has none.
    """

    run: Run
    counted: Mapping[str, float]
    values: Mapping[str, float]

    @property
    def remarks(self) -> list[str]:
        """How the requests differ from the planned ones."""
        name, planned, counted = self.run.name, self.run.asked, self.counted
        lines = []
        if counted["requests"] < planned["requests"]:
            lines.append(f"{name}: {counted['requests']:,.0f} of {planned['requests']:,.0f} "
                         "requests were answered.")
        lengths: dict[str, Asked] = {"prompts": "input_tokens", "answers": "output_tokens"}
        return lines + [
            f"{name}: {what} of {human(counted[key])} tokens on average, {planned[key]:,.0f} "
            "were planned." for what, key in lengths.items()
            if abs(counted[key] / planned[key] - 1) > DIFFERS]


@dataclass(frozen=True)
class BenchValue:
    """A measured value beside its prediction, SI.

    Attributes:
        run, metric: what was measured.
        measured: the value.
        predicted: with its 80% interval.
        inside: whether the value lies in the interval.
        agrees: whether it is as far from its prediction as those of the other runs; None where too
            few runs tell.
    """

    run: str
    metric: str
    measured: float
    predicted: Predicted
    inside: bool
    agrees: bool | None

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return {"run": self.run, "metric": self.metric, "measured": self.measured,
                **{"predicted" if end == "value" else end: number
                   for end, number in self.predicted.model_dump().items()},
                "inside": self.inside, "agrees": self.agrees}


@dataclass(frozen=True)
class Results:
    """Everything that was measured of a deployment.

    Attributes:
        path: of the plan.
        plan: its contents.
        runs: in the order of the plan.
        missing: runs of the plan without a result.
        values: every measured value.
    """

    path: Path
    plan: Plan
    runs: tuple[Measured, ...]
    missing: tuple[str, ...]
    values: tuple[BenchValue, ...]


def compare(runs: Sequence[Measured]) -> tuple[BenchValue, ...]:
    """Compare measured values with their predictions, and with each other.

    What the runs of one deployment share, most of an 80% interval, is seen by all of them, so that
    what is left of it is what rows of one system scatter about that: a test as much tighter as the
    class varies more than its systems.

    Args:
        runs: of one deployment.
    """
    off = {metric: {one.run.name: math.log(one.values[metric])
                    - math.log(one.run.predicted[metric].value)  # their quotient may be 0
                    for one in runs if metric in one.values} for metric in METRICS}
    values = []
    for run, measured in ((one.run, one.values) for one in runs):
        for metric, value in measured.items():
            ends, scatter, of = run.predicted[metric], run.scatter.get(metric), off[metric]
            agrees = None if scatter is None or len(of) < FEWEST_ALIKE else (
                abs(of[run.name] - median(of.values())) <= NORMAL_90 * scatter)
            values.append(BenchValue(run.name, metric, value, ends,
                                     ends.low <= value <= ends.high, agrees))
    return tuple(values)


def read(path: Path) -> Results:
    """The results in a folder, or one of them, with the plan beside or above them.

    Raises ParamsError, one sentence, for what is no plan or no result.
    """
    folder = path if path.is_dir() else path.parent
    plan = next((parent / PLAN for parent in (folder, folder.parent)
                 if (parent / PLAN).is_file()), None)
    if plan is None:
        raise ParamsError(f"{path}: there is no {PLAN} beside or above it, expected the results of "
                          "a bench that will-it-fit deploy planned.")
    text = read_small(plan, "a plan of deploy")
    try:
        planned = Plan.model_validate(_json(plan, text))
    except ValidationError:
        raise ParamsError(f"{plan}: is no plan that will-it-fit deploy wrote.") from None
    only = None if path.is_dir() else path.stem
    runs, missing = [], []
    for run in planned.runs:
        files = [folder / f"{run.name}{ending}" for ending in ENDINGS]
        file = next((file for file in files if file.is_file()), None)
        if file is None or only not in (None, run.name):
            missing.append(run.name)
        else:
            runs.append(measured_run(file, run))
    if not runs:
        names = ", ".join(run.name for run in planned.runs)
        raise ParamsError(f"{path}: holds no result of {plan}, expected NAME.json of one of its "
                          f"runs {names}.")
    return Results(plan, planned, tuple(runs), tuple(missing), compare(runs))


def _json(path: Path, raw: bytes) -> Any:
    """JSON, or the last line of several. Raises ParamsError."""
    text = raw.decode("utf-8", "replace")
    for part in (text, (text.strip().splitlines() or [""])[-1]):
        try:
            return jsonfile.anything(part)
        except ValueError:
            continue
    raise ParamsError(f"{path}: is not JSON, expected what the engine's bench wrote.")


def measured_run(file: Path, run: Run) -> Measured:
    """A run as the client of an engine wrote it.

    Args:
        file: of the client.
        run: of the plan.

    Raises ParamsError for what no client writes.
    """
    data = _json(file, read_small(file, "the result of a bench, without its details"))
    if not isinstance(data, dict):
        raise ParamsError(f"{file}: is no result of a bench, expected a JSON object.")

    def number(key: str) -> float:
        try:
            return COUNT.validate_python(data.get(key))
        except ValidationError:
            raise ParamsError(
                f"{file}: '{key}' is missing or no number from 0 to {MOST:g}, expected what vllm "
                "bench serve or sglang.bench_serving writes.") from None

    answered = number("completed")
    if not answered:
        raise ParamsError(f"{file}: no request was answered.")
    if answered < 1:
        raise ParamsError(f"{file}: 'completed' is {answered:g}, expected a number of requests.")
    counted = {"requests": answered, "input_tokens": number("total_input_tokens") / answered,
               "output_tokens": number("total_output_tokens") / answered}
    if not all(counted.values()):
        raise ParamsError(f"{file}: no token was read or none was written.")
    if min(counted.values()) < 1:
        raise ParamsError(f"{file}: fewer tokens than requests, expected at least one of a prompt "
                          "and of an answer.")
    values = {metric: factor * number(key) for metric, (key, factor) in _WRITTEN.items()
              if metric in run.predicted}
    return Measured(run, counted, {metric: value for metric, value in values.items() if value})


def fittable(runs: Sequence[Measured]) -> list[Measured]:
    """Runs that are rows of a measured system: no prefix in common, no arrivals of their own."""
    return [one for one in runs if not one.run.shared and one.run.rate is None]


def explaining(system: System, metric: str, rows: np.ndarray, most: int) -> list[str]:
    """Mechanisms that within their ranges explain most of what was measured, one after the other.

    Each next one is that which leaves least of the logarithms of measured over predicted, moved
    along its own slope and no farther than to the end of its 80% range.

    Args:
        system: what was measured.
        metric: the quantity.
        rows: indices.
        most: how many.
    """
    # the closed form, as in a fit: the scheduler would be run once per mechanism
    plain = system.predict(metric, rows, {"micro_batches": system.inputs["micro_batches"]})
    left = np.log(system.rows[metric][rows]) - np.log(plain)
    slopes = {name: np.log(system.predict(metric, rows, dict.fromkeys(
        knob.symbols, knob.at(1.0))) / plain) for name, knob in system.knobs.items()
              if knob.value.low < knob.value.high}
    slopes = {name: slope for name, slope in slopes.items() if slope.any()}
    names: list[str] = []
    while slopes and len(names) < most:
        rest = {name: left - slope * np.clip(left @ slope / (slope @ slope), -NORMAL_90, NORMAL_90)
                for name, slope in slopes.items()}
        names.append(min(rest, key=lambda name: float(rest[name] @ rest[name])))
        left = rest[names[-1]]
        del slopes[names[-1]]
    return names


def count(rows: int) -> int:
    """How many mechanisms so many rows can tell apart.

    >>> [count(rows) for rows in (1, 5, 6, 40)]
    [1, 1, 2, 2]
    """
    return max(1, min(MOST_FITTED, rows // ROWS_PER_MECHANISM))
