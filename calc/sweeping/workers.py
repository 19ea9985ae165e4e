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
from calc.sweeping.plan import Plan, program
from catalogue import ParamsError

AHEAD = 3  # chunks that wait for each worker
ANSWER, JOINING = 10, 60  # seconds for a scheduler to answer, for a first worker to join
LOOK = 1.0  # seconds between two looks at a silent scheduler

KEPT = "with a folder for its parts (-o) the same command goes on from what is finished"

Done = tuple[int, Rows, RowCounts]


def work(plan: Plan, number: int, state: str = "") -> Done:
    """One chunk: its number, rows and counts.

    Args:
        plan: of the sweep.
        number: of the chunk.
        state: of the program, where another machine may have another one.

    Raises ParamsError for another state.
    """
    if state and program() != state:
        raise ParamsError("a worker of the cluster runs another state of this program or of NumPy, "
                          "expected the same one everywhere.")
    return number, *computed(plan, number)


def here(plan: Plan, numbers: list[int], workers: int | None) -> Iterator[Done]:
    """On this machine: in this process, or in several where there are several chunks.

    Args:
        plan: of the sweep.
        numbers: of the chunks.
        workers: processes; None: one per core that this one may use.

    Raises ParamsError if one of the processes is killed.
    """
    workers = min(workers or len(os.sched_getaffinity(0)), len(numbers))
    if workers <= 1:
        yield from (work(plan, number) for number in numbers)
        return
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), quietly,
                               (_install, plan))
    try:
        yield from _finished(lambda number: pool.submit(_installed, number), numbers,
                             AHEAD * workers)
    except BrokenProcessPool:
        raise ParamsError("a process that computes was killed, perhaps for want of memory, "
                          f"expected fewer --workers or a smaller --chunk; {KEPT}.") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_plan: Plan | None = None


def _install(plan: Plan) -> None:
    global _plan
    _plan = plan


def _installed(number: int) -> Done:
    assert _plan is not None
    return work(_plan, number)


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


def on_cluster(plan: Plan, numbers: list[int], scheduler: str) -> Iterator[Done]:
    """On the workers of a Dask scheduler, which computes again what a lost worker had.

    Raises ParamsError for a scheduler that does not answer, has no workers, or goes away.
    """
    import distributed

    def look() -> None:
        if client is None or client.status != "running":
            raise ConnectionError

    client = None
    logging.disable()  # what Dask tells is told in a sentence
    try:
        client = distributed.Client(scheduler, timeout=ANSWER, set_as_default=False, name="sweep")
        client.wait_for_workers(1, timeout=JOINING)
        pool, given = client.get_executor(pure=False), client.submit(replace, plan, pure=False)
        state = program()
        yield from _finished(lambda number: pool.submit(work, given, number, state), numbers,
                             AHEAD * sum(client.nthreads().values()), look)
    except ParamsError:
        raise
    except (Exception, CancelledError) as error:
        what = type(error).__name__
        if client is None:
            problem = (f"no Dask scheduler answers there ({what}), expected an address like "
                       "tcp://10.0.0.1:8786")
        elif client.status != "running" or isinstance(error, CancelledError):
            problem = f"the scheduler went away; {KEPT}"
        else:
            problem = f"{what}: {str(error)[:200].rstrip('.')}; {KEPT}"
        raise ParamsError(f"--scheduler {scheduler}: {problem}.") from None
    finally:
        if client is not None:
            with contextlib.suppress(Exception):  # one that is gone cannot be told goodbye
                client.close(timeout=LOOK)
        logging.disable(logging.NOTSET)
