"""Who computes the chunks: this process, processes of this machine, or a Dask cluster.

All of them call :func:`work`, and give what it returns in whatever order it is finished.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import queue
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from calc.many.fronts import Rows
from calc.many.processes import quietly
from calc.sweeping.chunks import RowCounts, computed
from calc.sweeping.parts import encoded
from calc.sweeping.plan import Plan, program
from catalogue import ParamsError

AHEAD = 3  # chunks that wait for each worker
PATIENCE = 3  # times that workers are lost without a chunk finished between
ANSWER, JOINING = 10, 60  # seconds for a scheduler to answer, for a first worker to join
ALONE = 2.0  # seconds that a sweep takes in this process before others are started for the rest
LOOK = 1.0  # seconds between two looks at a silent scheduler

Done = tuple[int, Rows | None, RowCounts, bytes | None]


def work(plan: Plan, number: int, parts: bool) -> Done:
    """One chunk: its number, rows and counts; its part in place of rows where those are written."""
    rows, counted = computed(plan, number)
    if not parts:
        return number, rows, counted, None
    part = encoded(plan, number, rows, counted)
    return number, None if plan.every else rows, counted, part


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (
        os.cpu_count() or 1)


def here(plan: Plan, numbers: Iterable[int], parts: bool, workers: int) -> Iterator[Done]:
    """On this machine; a process that is killed is replaced, and its chunks are computed again.

    Raises ParamsError if processes die again and again.
    """
    begun, left, lost = time.monotonic(), dict.fromkeys(numbers), 0
    for number in list(left):
        if workers > 1 and time.monotonic() - begun >= ALONE:
            break
        del left[number]
        yield work(plan, number, parts)
    while left:
        try:
            for done in _pooled(plan, list(left), parts, min(workers, len(left))):
                del left[done[0]]
                lost = 0
                yield done
        except BrokenProcessPool:
            lost += 1
            if lost == PATIENCE:
                raise ParamsError(
                    f"a process that computes was killed {PATIENCE} times before it finished a "
                    "chunk, perhaps for want of memory; expected fewer --workers or a smaller "
                    "--chunk.") from None


_plan: Plan | None = None


def _install(plan: Plan) -> None:
    global _plan
    _plan = plan


def _installed(number: int, parts: bool) -> Done:
    assert _plan is not None
    return work(_plan, number, parts)


def _pooled(plan: Plan, numbers: list[int], parts: bool, workers: int) -> Iterator[Done]:
    """Processes that start afresh, each with the plan; few chunks wait at a time."""
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), quietly,
                               (_install, plan))
    ahead = iter(numbers)
    try:
        running: set[Future[Done]] = {pool.submit(_installed, number, parts)
                                      for number in islice(ahead, AHEAD * workers)}
        while running:
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()
            running |= {pool.submit(_installed, number, parts)
                        for number in islice(ahead, len(finished))}
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def on_cluster(plan: Plan, numbers: Iterable[int], parts: bool, scheduler: str) -> Iterator[Done]:
    """On the workers of a Dask scheduler, which computes again what a lost worker had.

    Raises ParamsError for a scheduler that does not answer, has no workers, or goes away.
    """
    import logging

    import distributed

    for logger in list(logging.root.manager.loggerDict):
        if logger.startswith(("distributed", "tornado")):  # what they tell is told in a sentence
            logging.getLogger(logger).setLevel(logging.CRITICAL + 1)
    try:
        client = distributed.Client(scheduler, timeout=ANSWER, set_as_default=False,
                                    name="sweep")
    except (OSError, TimeoutError, ValueError, RuntimeError, TypeError) as error:
        raise ParamsError(f"--scheduler {scheduler}: no Dask scheduler answers there "
                          f"({type(error).__name__}), expected an address like "
                          "tcp://10.0.0.1:8786.") from None
    try:
        yield from _submitted(client, plan, list(numbers), parts, scheduler)
    except ParamsError:
        raise
    except (Exception, asyncio.CancelledError) as error:  # it went at whatever moment
        if client.status == "running" and not isinstance(error, OSError):
            raise
        raise _gone(f"{scheduler}: the scheduler went away", parts) from None
    finally:
        with contextlib.suppress(Exception):  # one that is gone cannot be told goodbye
            client.close(timeout=LOOK)


def _submitted(client: Any, plan: Plan, numbers: list[int], parts: bool,
               scheduler: str) -> Iterator[Done]:
    try:
        client.wait_for_workers(1, timeout=JOINING)
    except (OSError, TimeoutError):
        raise ParamsError(f"--scheduler {scheduler}: no worker has joined it within {JOINING} s, "
                          "expected 'dask worker' with its address.") from None
    threads = _threads(client)
    # a task gives the plan to all others: it is computed again where the worker that had it is lost
    given = client.submit(_same, plan, key=f"plan-{plan.key}")
    state = program()
    finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
    ahead = iter(numbers)
    held = {}

    def submit(count: int) -> None:
        for number in islice(ahead, count):
            future = client.submit(_checked, given, number, parts, state, retries=PATIENCE,
                                   key=f"chunk-{plan.key}-{number}-{parts}")
            held[number] = future
            future.add_done_callback(lambda future, number=number: finished.put((number, future)))

    submit(AHEAD * threads)
    silent = 0.0
    while held:
        try:
            number, future = finished.get(timeout=LOOK)
            done: Done = future.result(timeout=JOINING)
        except queue.Empty:
            silent += LOOK
            if client.status != "running":
                raise _gone(f"{scheduler}: the scheduler went away", parts) from None
            if silent >= JOINING and not _threads(client):
                raise _gone(f"{scheduler}: all of its workers went away", parts) from None
            continue
        except ParamsError:
            raise
        except Exception as error:
            if client.status != "running" or future.status != "error":
                raise _gone(f"{scheduler}: the scheduler went away", parts) from None
            said = f"{type(error).__name__}: {error}".splitlines()[0][:200].rstrip(".")
            raise _gone(f"{scheduler}: chunk {number} fails on its workers ({said})",
                        parts) from None
        silent = 0.0
        del held[number]
        submit(1)
        yield done


def _threads(client: Any) -> int:
    """Threads of all workers. Raises OSError for a scheduler that hangs, which would be waited for
    without an end."""
    return sum(client.sync(
        client.scheduler.ncores, workers=None, callback_timeout=ANSWER).values())


def _gone(said: str, parts: bool) -> ParamsError:
    kept = ("finished parts are kept, the same command goes on from there" if parts else
            "nothing was kept, with a folder for its parts a sweep goes on from what is finished")
    return ParamsError(f"--scheduler {said}; {kept}.")


def _same(plan: Plan) -> Plan:
    return plan


def _checked(plan: Plan, number: int, parts: bool, state: str) -> Done:
    """A chunk on a worker, if that runs the same program."""
    if program() != state:
        raise ParamsError("a worker of the cluster runs another state of this program or of NumPy, "
                          "expected the same one everywhere.")
    return work(plan, number, parts)

