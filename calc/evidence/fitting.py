"""Fitting a few mechanisms to measured rows: the maximum a posteriori, with ranges as priors.

Each mechanism is a coordinate z of unit variance under its prior: 0 at its value, which is the
prior's median, and ±1.28 at the ends of its range, which holds 80%. Residuals are logarithms of
predicted over measured.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np

from catalogue.deployments.physics_inputs import NORMAL_90, Knob
from catalogue.entries.calibrations import MOST

STEP = 1e-4  # of z, for derivatives
LOOK = 0.5  # s between two looks at whether an answer will never come
LEAST_NOISE = 0.01  # documents print three digits; what is measured scatters more
FIRST_NOISE = 0.05
NORMAL_MEDIAN = 1.4826  # standard deviation of a normal variable over its median distance

Question = TypeVar("Question")
Answer = TypeVar("Answer")
Result = TypeVar("Result")
Predict = Callable[[Mapping[str, np.ndarray]], np.ndarray]


@dataclass(frozen=True)
class Calibration:
    """Mechanisms fitted to rows.

    Attributes:
        knobs: what was fitted.
        z: their coordinates, shape (parameters,).
        covariance: of the coordinates, shape (parameters, parameters).
        noise: standard deviation of the residuals [1], logarithmic.
    """

    knobs: tuple[Knob, ...]
    z: np.ndarray
    covariance: np.ndarray
    noise: float

    @property
    def values(self) -> dict[str, float]:
        """Fitted value of each mechanism, by name."""
        return {knob.name: knob.at(float(z))
                for knob, z in zip(self.knobs, self.z, strict=True)}

    @property
    def inputs(self) -> dict[str, float]:
        """The same, by input symbol."""
        values = self.values
        return {symbol: values[knob.name] for knob in self.knobs for symbol in knob.symbols}

    @property
    def inside(self) -> bool:
        """Whether every fitted value lies in its range."""
        return bool((np.abs(self.z) <= NORMAL_90 + 1e-9).all())


def neighbours(knobs: Sequence[Knob], z: np.ndarray) -> dict[str, np.ndarray]:
    """Inputs at a point and one small step along each coordinate, shape (1 + parameters, 1).

    Args:
        knobs: the mechanisms.
        z: coordinates of the point, shape (parameters,).
    """
    points = np.vstack([z, z + STEP * np.eye(len(z))])
    return {symbol: knob.at(np.asarray(column, float))[:, None]
            for knob, column in zip(knobs, points.T, strict=True) for symbol in knob.symbols}


def slopes(logs: np.ndarray) -> np.ndarray:
    """Derivatives by the coordinates, shape (parameters, ...).

    Args:
        logs: logarithms at :func:`neighbours`, shape (1 + parameters, ...).
    """
    return np.asarray((logs[1:] - logs[0]) / STEP)


def fit(predict: Predict, knobs: Sequence[Knob], measured: np.ndarray) -> Calibration:
    """Fit mechanisms to measured rows.

    The noise is not known beforehand: a first fit with 5% gives residuals, whose median gives that
    of the second. A row far off weighs less than its square (soft L1), so that one outlier neither
    bends the fit nor loosens it.

    Args:
        predict: predicted rows for overridden inputs; an override has shape (n, 1), the result
            (n, rows).
        knobs: what to fit, at most four.
        measured: measured rows, positive, shape (rows,).

    Raises ValueError for more than four mechanisms, none, or no rows.

    Source: notebooks/validation.md, section How an error is measured.
    """
    if not 1 <= len(knobs) <= MOST:
        raise ValueError(f"{len(knobs)} mechanisms, expected 1 to {MOST}")
    if not len(measured):
        raise ValueError("there are no rows to fit")
    logs = np.log(measured)

    known: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def both(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and their derivatives, in one evaluation."""
        key = z.tobytes()
        if key not in known:
            moved = np.log(predict(neighbours(knobs, z)))
            known[key] = moved[0] - logs, slopes(moved).T
        return known[key]

    from scipy.optimize import least_squares  # a plan of measurements takes other parts of this

    def residuals(z: np.ndarray, noise: float) -> np.ndarray:
        return np.concatenate([both(z)[0] / noise, z])

    def jacobian(z: np.ndarray, noise: float) -> np.ndarray:
        return np.vstack([both(z)[1] / noise, np.eye(len(z))])

    dilution = math.sqrt(len(measured) / max(1, len(measured) - len(knobs)))
    noise, z = FIRST_NOISE, np.zeros(len(knobs))
    for _ in range(2):
        z = least_squares(residuals, z, jac=jacobian, loss="soft_l1", args=(noise,),
                          xtol=1e-6, ftol=1e-6).x
        found, moves = both(z)
        typical = NORMAL_MEDIAN * float(np.median(np.abs(found)))
        noise = max(LEAST_NOISE, typical * dilution)
    curvature = moves.T @ moves / noise**2 + np.eye(len(z))
    scatter = max(LEAST_NOISE, math.sqrt(float(np.mean(found**2))) * dilution)
    return Calibration(tuple(knobs), z, np.linalg.inv(curvature), scatter)


def side_by_side(works: Sequence[Callable[[Callable[[Question], Answer]], Result]],
                 answer: Callable[[list[Question]], Sequence[Answer]]) -> list[Result]:
    """What functions return that run in lockstep: what they ask at a time is answered together.

    A prediction of a few rows takes as long as one of a hundred times as many, and a fit asks for
    one after the other; so fits that do not hang on each other take their steps side by side.

    >>> def work(start):
    ...     return lambda ask: [ask(start), ask(start + 1)]
    >>> side_by_side([work(1), work(5)], lambda asked: [10 * each + len(asked) for each in asked])
    [[12, 22], [52, 62]]

    Args:
        works: each is handed a function that takes a question and returns its answer.
        answer: answers to questions, in their order.

    Raises what a function or the answer raises.
    """
    said: SimpleQueue[tuple[Question, SimpleQueue[Any]] | None] = SimpleQueue()
    stopped = threading.Event()

    def ask(question: Question) -> Answer:
        reply: SimpleQueue[tuple[Future[Sequence[Answer]], int]] = SimpleQueue()
        said.put((question, reply))
        while not stopped.is_set():
            with contextlib.suppress(Empty):
                answers, place = reply.get(timeout=LOOK)
                return answers.result()[place]
        raise CancelledError

    def run(work: Callable[[Callable[[Question], Answer]], Result]) -> Result:
        try:
            return work(ask)
        finally:
            said.put(None)

    with ThreadPoolExecutor(max(1, len(works))) as pool, _telling(stopped):
        results, asked = [], []
        for work in works:  # one at a time runs on to what it asks next, or to its end
            results.append(pool.submit(run, work))
            asked.append(said.get())
        while waiting := [each for each in asked if each]:
            answers: Future[Sequence[Answer]] = Future()
            try:
                answers.set_result(answer([question for question, _ in waiting]))
            except BaseException as error:  # those who wait have to hear of it
                answers.set_exception(error)
            asked = []
            for place, (_, reply) in enumerate(waiting):
                reply.put((answers, place))
                asked.append(said.get())
    return [each.result() for each in results]


@contextlib.contextmanager
def _telling(stopped: threading.Event) -> Iterator[None]:
    """Tell those who wait that nobody answers any more, as after a Ctrl-C at whatever place."""
    try:
        yield
    except BaseException:
        stopped.set()
        raise
