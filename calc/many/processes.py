"""Worker processes: how they begin and end, and their progress."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, InvalidStateError
from typing import Any, TypeVar

Done = TypeVar("Done")
ENDING = (signal.SIGINT, signal.SIGTERM)
OnProgress = Callable[[str, int, int], None]  # what is under way, steps done, all steps


def silent(what: str, done: int, of: int) -> None:
    """Tell nobody how far something is."""


def quietly(begin: Callable[..., None], *given: Any) -> None:
    """Begin a process that leaves it to the one that waits to say that it ends.

    Args:
        begin: what it does first.
        given: what that takes.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    threading.Thread(target=end_with_parent, daemon=True).start()
    begin(*given)


def end_with_parent() -> None:
    """End where the one that waits has ended: killed, it told nobody."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)


def mapped(pool: Executor, function: Callable[[Any], Done], tasks: Iterable[Any]
           ) -> Iterator[Done]:
    """What a function gives for each task, of a pool that starts its processes now.

    Signals that end this process wait meanwhile: one that came between the fork of a process and
    its being noted would leave that one behind.

    Args:
        pool: of processes that begin :func:`quietly`.
        function: of a task.
        tasks: in the order in which they are given out.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        return pool.map(function, tasks)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_processes(of_caller: set[threading.Thread]) -> None:
    """Kill remaining worker processes and join the threads that watch them.

    Such a thread closes the pipe that the end of this process would otherwise write to.
    """
    if not (left := multiprocessing.active_children()):
        return
    threading.excepthook = lambda problem: (  # a pool's own thread finds its processes ended
        None if issubclass(problem.exc_type, InvalidStateError)
        else threading.__excepthook__(problem))
    for process in left:  # a process that is just being forked would ignore SIGTERM
        process.kill()
    for thread in set(threading.enumerate()) - of_caller:
        if not thread.daemon:
            thread.join()
