"""How a process of several begins, that another one waits for."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any


def quietly(begin: Callable[..., None], *given: Any) -> None:
    """Begin a process that leaves it to the one that waits to say that it ends.

    Args:
        begin: what it does first.
        given: what that takes.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    begin(*given)
