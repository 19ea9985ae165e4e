"""How a process of several begins, that another one waits for."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM)


def quietly(begin: Callable[..., None], *given: Any) -> None:
    """Begin a process that leaves it to the one that waits to say that it ends.

    Args:
        begin: what it does first.
        given: what that takes.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    begin(*given)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Lets signals that end this process wait while it starts others.

    One that came between the fork of a process and its being noted would leave that one behind.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
