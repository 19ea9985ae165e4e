"""A sweep from its definition to its result: chunks that are missing are computed, all reduced.

A chunk is a pure function of the plan and its number. Finished ones are files of a folder: Parquet,
whose metadata say which sweep and which state of the program they belong to, so that one of another
sweep is never taken for a part of this one. Chunks are computed by this process, by several, or by
the workers of a Dask cluster, in whatever order.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from calc.layouts.feasible import HEADROOM, has_room
from calc.many import sweeps
from calc.many.fronts import Best, Front, Rows
from calc.serving.evaluate import SERVED_NAMES, STEADY_NAMES
from calc.sweeping.plan import DEVICES, PER_DEVICE, Choice, Plan, Sweep, planned, program
from catalogue import ParamsError
from catalogue.deployments.admission import too_long
from catalogue.reading.files import make_folder, write_whole

ROW = "row"
TOO_LONG = "context_tokens is less than input_tokens + output_tokens"
TOO_MANY = "concurrency is more than the requests that there are"
TOO_LARGE = "does not fit in memory"  # decided by calc.layouts.feasible.has_room
ENDLESS = "has no finite answer"
BEYOND = "is longer than the model knows positions"
AHEAD = 3  # chunks that wait for each worker
ANSWER, JOINING = 10, 60  # seconds for a scheduler to answer, for a first worker to join
ANY_PORT = "127.0.0.1:0"  # of Dask's status page, which has port 8787 unless told otherwise
RESUMED = "with a folder for its parts (-o) the same command goes on from what is finished"

Left = list[tuple[str, int, int]]  # reason, rows that were left out for it, the first of them
Chunk = tuple[int, Rows, Left]  # number, rows that are kept with their quantities, others
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Result:
    """What came of a sweep.

    Attributes:
        plan: of it.
        rows: that are kept: their numbers and quantities, the best first; none where all are
            kept, in parts.
        left: reason -> rows that were left out for it, and the first of them.
        folder: where the parts lie; None where none were written.
    """

    plan: Plan
    rows: Rows
    left: Mapping[str, tuple[int, int]]
    folder: Path | None = None

    def settings(self, row: int) -> dict[str, str]:
        """Path -> value of a row that is kept."""
        return self.plan.settings(int(self.rows[ROW][row]))

    def as_json(self) -> dict[str, Any]:
        """Plain data in SI units."""
        plan = self.plan
        return {
            "sweep": plan.key, "rows": plan.count,
            "kept": "all" if plan.every else "front" if plan.best is None else plan.best,
            "objectives": {name: "max" if sign > 0 else "min"
                           for name, sign in plan.objectives.items()},
            "parts": str(self.folder) if self.folder else None,
            "left_out": [{"reason": reason, "rows": count, "first": plan.settings(first)}
                         for reason, (count, first) in self.left.items()],
            "deployments": [{"settings": self.settings(i), **{
                name: float(self.rows[name][i]) for name in plan.names}}
                for i in range(len(self.rows.get(ROW, ())))],
        }


def swept(sweep: Sweep, folder: Path | None = None, workers: int | None = None,
          scheduler: str | None = None, progress: Progress = lambda done, of: None) -> Result:
    """Compute a sweep, or what is missing of it.

    The result is the same whatever the size of a chunk, whoever computes them, and however often it
    was interrupted; parts are the same byte by byte for the same size of a chunk.

    >>> result = swept(Sweep("s2-910b1-awq", {"workload.concurrency": "1..64:x2"},
    ...                      objectives={"tpot": -1, "output_throughput": +1}), workers=1)
    >>> [result.settings(i)["workload.concurrency"] for i in range(3)]
    ['1', '2', '4']

    Args:
        sweep: its definition.
        folder: where parts are kept, and found again; None: nothing is written.
        workers: processes on this machine; None: one per core that this one may use.
        scheduler: address of a Dask scheduler in their place.
        progress: called after every finished chunk: how many, of how many.

    Raises ParamsError for a sweep that cannot be, a part that is not ours, a full disk, and a
    scheduler that goes away.
    """
    plan = planned(sweep)
    there = finished_parts(folder, plan) if folder else {}
    missing = [number for number in range(plan.chunks) if number not in there]
    workers = min(workers or len(os.sched_getaffinity(0)), len(missing))
    chunks = (by_workers(plan, missing, workers, scheduler)
              if missing and (scheduler or workers > 1) else
              (computed(plan, number) for number in missing))
    reduced, left = _reducer(plan), dict[str, tuple[int, int]]()
    for done, (number, rows, without) in enumerate(chain(
            (read_part(path, plan, number) for number, path in there.items()), chunks), 1):
        if folder and number not in there:
            write_part(folder, plan, number, rows, without)
        for reason, count, first in without:
            before, earliest = left.get(reason, (0, first))
            left[reason] = before + count, min(earliest, first)
        if reduced is not None:
            reduced.add(rows)
        progress(done, plan.chunks)
    left = dict(sorted(left.items(), key=lambda item: item[1][1]))
    return Result(plan, {} if reduced is None else reduced.rows, left, folder)


def _reducer(plan: Plan) -> Front | Best | None:
    """What takes in the rows of a sweep; None where all are kept."""
    if plan.every:
        return None
    if plan.best is None:
        return Front(plan.objectives)
    (name, sign), = plan.objectives.items()
    return Best(name, plan.best, sign)


def computed(plan: Plan, number: int, state: str = "") -> Chunk:
    """The rows of a chunk that are kept, and how many were left out, why.

    Args:
        plan: of the sweep.
        number: of the chunk, from 0.
        state: of the program, where another machine may have another one.

    Raises ParamsError for another state.
    """
    if state and program() != state:
        raise ParamsError("a worker of the cluster runs another state of this program or of NumPy, "
                          "expected the same one everywhere.")
    start, size = number * plan.chunk, math.prod(plan.shape[plan.outer:])
    rows = np.arange(start, min(plan.count, start + plan.chunk))
    parts: list[Rows] = [{ROW: rows[:0], **{name: np.empty(0) for name in plan.names}}]
    left = Left()
    for at in range(start // size, int(rows[-1]) // size + 1):
        choice, own = plan.choices[at], rows[max(0, at * size - start):(at + 1) * size - start]
        if choice.problem is not None:
            left.append((choice.problem, len(own), int(own[0])))
        else:
            parts += feasible_rows(plan, choice, own, left)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    reduced = _reducer(plan)
    return number, (joined if reduced is None or not len(joined[ROW])
                    else reduced.add(joined).rows), left


def feasible_rows(plan: Plan, choice: Choice, rows: np.ndarray, left: Left) -> Iterator[Rows]:
    """Row numbers and quantities of what fits, of one choice of entries; nothing if nothing does.

    Args:
        plan: of the sweep.
        choice: of entries.
        rows: numbers.
        left: reasons, to which those of rows that are left out are added.
    """
    places = np.unravel_index(rows, plan.shape)[plan.outer:]
    inputs: dict[str, Any] = dict(choice.inputs) | {
        name: values[places[axis]] for name, (axis, values) in plan.columns.items()}
    inputs["concurrency"] = np.broadcast_to(inputs["concurrency"], rows.shape)
    if choice.bounded and "context_tokens" in plan.columns:
        inputs["input_tokens"] = inputs["context_tokens"] - 1
    needed = inputs["input_tokens"] + inputs["output_tokens"]
    if choice.summed and {"input_tokens", "output_tokens"} & plan.columns.keys():
        inputs["context_tokens"] = needed

    def drop(reason: str, wrong: Any) -> None:
        """Leave rows out."""
        nonlocal rows, inputs
        wrong = np.broadcast_to(wrong, rows.shape)
        if wrong.any():
            left.append((reason, int(wrong.sum()), int(rows[wrong][0])))
            rows, inputs = rows[~wrong], {name: value[~wrong] if np.ndim(value) else value
                                          for name, value in inputs.items()}

    if choice.requests is not None:
        drop(TOO_MANY, inputs["concurrency"] > choice.requests)
    drop(TOO_LONG, np.less(inputs["context_tokens"],
                           inputs["input_tokens"] + inputs["output_tokens"]))
    if choice.positions < math.inf:
        drop(BEYOND, too_long(inputs["context_tokens"], choice.positions))
    if len(rows):
        drop(TOO_LARGE, ~has_room(sweeps.sweep(inputs, choice.attention, [HEADROOM],
                                               decode=False)))
    if len(rows):
        quantities = quantities_of(plan.names, choice.attention, inputs)
        inputs = {name: np.broadcast_to(quantities[name], rows.shape).astype(float)
                  for name in plan.names}
        for name in plan.names:
            drop(ENDLESS, ~np.isfinite(inputs[name]))
        yield {ROW: rows, **inputs}


def quantities_of(names: Sequence[str], attention: str, inputs: Mapping[str, Any]
                  ) -> dict[str, Any]:
    """Quantities of deployments that fit, by the shortest way to each, and their inputs."""
    devices = inputs["tensor_parallel"] * inputs["pipeline_parallel"] * inputs["data_parallel"]
    lacking = {PER_DEVICE.get(name, name) for name in names} - {*inputs, DEVICES}
    steps = sorted(lacking & (SERVED_NAMES | STEADY_NAMES))
    columns = {**inputs, DEVICES: devices}
    if steps:
        columns |= sweeps.decode_sweep(inputs, attention, steps)
    if rest := sorted(lacking - {*steps}):
        columns |= sweeps.sweep(inputs, attention, rest)
    return columns | {name: columns[total] / devices
                      for name, total in PER_DEVICE.items() if name in names}


def path_of(folder: Path, plan: Plan, number: int) -> Path:
    """A part by its number among all, and the sweep."""
    return folder / f"part-{number:0{len(str(plan.chunks - 1))}}-{plan.key}.parquet"


def finished_parts(folder: Path, plan: Plan) -> dict[int, Path]:
    """Parts that a folder has, by number; the folder is made.

    Raises ParamsError for a folder that cannot be used, or that has a part of another sweep.
    """
    try:
        make_folder(folder)
        standing = {*folder.glob("*.parquet")}
    except OSError as error:
        reason = (error.strerror or "refused").lower()
        raise ParamsError(f"{folder}: no folder for the parts of a sweep ({reason}).") from None
    parts = {number: path for number in (range(plan.chunks) if standing else ())
             if (path := path_of(folder, plan, number)) in standing}
    for path in sorted(standing - {*parts.values()}):
        raise ParamsError(f"{path}: not a part of this sweep ({plan.key}), expected an empty "
                          "folder or one with its parts.")
    return parts


def write_part(folder: Path, plan: Plan, number: int, rows: Rows, left: Left) -> None:
    """Keep a finished chunk: the values of the axes, then the quantities, in SI units.

    Raises ParamsError where there is no room for it; the others stay.
    """
    import pandas

    columns = {ROW: rows[ROW]}
    for axis, places in zip(plan.axes, np.unravel_index(rows[ROW], plan.shape), strict=True):
        for name, texts in zip(axis.paths, zip(*axis.values, strict=True), strict=True):
            values = np.array(texts)
            with contextlib.suppress(ValueError):  # numbers where all of them are plain ones
                values = values.astype(float)
            columns[name] = values[places]
    frame = pandas.DataFrame(columns | {name: rows[name] for name in plan.names})
    frame.attrs = {"part": f"{plan.key} {number}", "left": left}
    path = path_of(folder, plan, number)
    try:
        write_whole(path, frame.to_parquet(compression="zstd", write_page_checksum=True))
    except OSError as error:
        raise ParamsError(
            f"{path}: cannot be written ({(error.strerror or 'refused').lower()}); finished parts "
            "are kept, the same command goes on from there.") from None


def read_part(path: Path, plan: Plan, number: int) -> Chunk:
    """The rows of a part, without the values of its axes; where all are kept they stay in it.

    Raises ParamsError for a part of another sweep, or one that is not as it was written.
    """
    import pandas

    names = [] if plan.every else [ROW, *plan.names]
    try:
        frame = pandas.read_parquet(path, columns=names, page_checksum_verification=True)
        if frame.attrs["part"] != f"{plan.key} {number}":
            raise ValueError
        left = [(reason, count, first) for reason, count, first in frame.attrs["left"]]
    except (OSError, ValueError, KeyError, TypeError):
        raise ParamsError(f"{path}: not part {number} of this sweep as it was written; remove it "
                          "to have it computed again.") from None
    return number, {name: frame[name].to_numpy() for name in names}, left


def by_workers(plan: Plan, numbers: Sequence[int], workers: int, scheduler: str | None
               ) -> Iterator[Chunk]:
    """Chunks as they are finished by the workers of a Dask scheduler, or by so many processes.

    Raises ParamsError for a scheduler that does not answer, has no workers, or goes away.
    """
    import dask.config
    from distributed import Client, Future, LocalCluster, as_completed

    client, ahead = None, iter(numbers)

    def submit(number: int) -> Future:
        assert client is not None
        return client.submit(computed, shared, number, state, pure=False)

    logging.disable()  # what Dask logs is told in a sentence
    try:
        with contextlib.ExitStack() as opened:
            scratch = opened.enter_context(TemporaryDirectory())
            opened.enter_context(dask.config.set({"temporary-directory": scratch}))
            address = scheduler or opened.enter_context(LocalCluster(
                workers, threads_per_worker=1, memory_limit=0, dashboard_address=ANY_PORT,
                silence_logs=logging.CRITICAL))
            client = opened.enter_context(Client(address, timeout=ANSWER, set_as_default=False))
            client.wait_for_workers(1, timeout=JOINING)
            shared, state = client.scatter(plan, broadcast=True, hash=False), program()
            most = AHEAD * sum(client.nthreads().values())
            running = as_completed(map(submit, islice(ahead, most)), loop=client.loop)
            for future in running:
                yield future.result()
                for number in islice(ahead, 1):
                    running.add(submit(number))
    except (ParamsError, GeneratorExit):
        raise
    except (Exception, CancelledError) as error:
        what = type(error).__name__
        if client is None:
            problem = (f"no Dask scheduler answers there ({what}), expected an address like "
                       "tcp://10.0.0.1:8786")
        elif client.status != "running" or isinstance(error, CancelledError):
            problem = f"the scheduler went away; {RESUMED}"
        else:
            problem = f"{what}: {str(error)[:200].rstrip('.')}; {RESUMED}"
        where = f"--scheduler {scheduler}" if scheduler else "--workers"
        raise ParamsError(f"{where}: {problem}.") from None
    finally:
        logging.disable(logging.NOTSET)
