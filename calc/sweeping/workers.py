"""Who computes the chunks: this process, processes of this machine, or a Dask cluster.

All of them call :func:`work`, and give what it returns in whatever order it is finished.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import islice

from calc.many.fronts import Rows
from calc.many.processes import quietly
from calc.sweeping.chunks import RowCounts, computed
from calc.sweeping.parts import encoded
from calc.sweeping.plan import Plan, program
from catalogue import ParamsError

AHEAD = 3  # chunks that wait for each worker
ANSWER, JOINING = 10, 60  # seconds for a scheduler to answer, for a first worker to join
LOOK = 1.0  # seconds between two looks at a silent scheduler

Done = tuple[int, Rows | None, RowCounts, bytes | None]


def work(plan: Plan, number: int, parts: bool, state: str = "") -> Done:
    """One chunk: its number, rows and counts; its part in place of rows where those are written.

    Args:
        plan: of the sweep.
        number: of the chunk.
        parts: whether parts are written.
        state: of the program, where another machine may have another one.

    Raises ParamsError for another state.
    """
    if state and program() != state:
        raise ParamsError("a worker of the cluster runs another state of this program or of NumPy, "
                          "expected the same one everywhere.")
    rows, counted = computed(plan, number)
    if not parts:
        return number, rows, counted, None
    part = encoded(plan, number, rows, counted)
    return number, None if plan.every else rows, counted, part


def here(plan: Plan, numbers: list[int], parts: bool, workers: int | None) -> Iterator[Done]:
    """On this machine: in this process, or in several where there are several chunks.

    Args:
        plan: of the sweep.
        numbers: of the chunks.
        parts: whether parts are written.
        workers: processes; None: one per core that this one may use.

    Raises ParamsError if one of the processes is killed.
    """
    workers = min(workers or len(os.sched_getaffinity(0)), len(numbers))
    if workers <= 1:
        yield from (work(plan, number, parts) for number in numbers)
        return
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), quietly,
                               (_install, plan))
    try:
        yield from _finished(lambda number: pool.submit(_installed, number, parts), numbers,
                             AHEAD * workers)
    except BrokenProcessPool:
        raise ParamsError(f"a process that computes was killed, perhaps for want of memory; "
                          f"{_kept(parts)}, expected fewer --workers or a smaller --chunk."
                          ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_plan: Plan | None = None


def _install(plan: Plan) -> None:
    global _plan
    _plan = plan


def _installed(number: int, parts: bool) -> Done:
    assert _plan is not None
    return work(_plan, number, parts)


def _finished(submit: Callable[[int], Future[Done]], numbers: list[int], most: int,
              look: Callable[[], None] = lambda: None) -> Iterator[Done]:
    """Chunks as they are finished, of which few wait at a time.

    Args:
        submit: begins one.
        numbers: of all of them.
        most: that wait.
        look: called every second in which none is finished.
    """
    ahead = iter(numbers)
    running = {submit(number) for number in islice(ahead, most)}
    while running:
        finished, running = wait(running, LOOK, FIRST_COMPLETED)
        if not finished:
            look()
        for future in finished:
            yield future.result()
        running |= {submit(number) for number in islice(ahead, len(finished))}


def on_cluster(plan: Plan, numbers: list[int], parts: bool, scheduler: str) -> Iterator[Done]:
    """On the workers of a Dask scheduler, which computes again what a lost worker had.

    Raises ParamsError for a scheduler that does not answer, has no workers, or goes away.
    """
    import distributed

    gone = ParamsError(f"--scheduler {scheduler}: the scheduler went away; {_kept(parts)}.")
    logging.disable()  # what Dask tells is told in a sentence
    try:
        client = distributed.Client(scheduler, timeout=ANSWER, set_as_default=False, name="sweep")
    except (OSError, TimeoutError, ValueError, RuntimeError, TypeError) as error:
        logging.disable(logging.NOTSET)
        raise ParamsError(f"--scheduler {scheduler}: no Dask scheduler answers there "
                          f"({type(error).__name__}), expected an address like "
                          "tcp://10.0.0.1:8786.") from None

    def look() -> None:
        if client.status != "running":
            raise gone

    try:
        client.wait_for_workers(1, timeout=JOINING)
        pool, given = client.get_executor(pure=False), client.submit(replace, plan, pure=False)
        state = program()
        yield from _finished(lambda number: pool.submit(work, given, number, parts, state), numbers,
                             AHEAD * sum(client.nthreads().values()), look)
    except ParamsError:
        raise
    except (OSError, TimeoutError) as error:
        if client.status == "running" and isinstance(error, TimeoutError):
            raise ParamsError(f"--scheduler {scheduler}: no worker has joined it within "
                              f"{JOINING} s, expected 'dask worker' with its address.") from None
        raise gone from None
    except (Exception, CancelledError) as error:
        if client.status != "running" or isinstance(error, CancelledError):
            raise gone from None
        raise ParamsError(f"--scheduler {scheduler}: a chunk fails on its workers "
                          f"({type(error).__name__}: {str(error)[:200].rstrip('.')}); "
                          f"{_kept(parts)}.") from None
    finally:
        with contextlib.suppress(Exception):  # one that is gone cannot be told goodbye
            client.close(timeout=LOOK)
        logging.disable(logging.NOTSET)


def _kept(parts: bool) -> str:
    return ("finished parts are kept, the same command goes on from there" if parts else
            "nothing was kept, with a folder for its parts a sweep goes on from what is finished")
