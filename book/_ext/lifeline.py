"""End with the process that started this one, however that ended; on Linux only."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # of the kernel's own list, linux/prctl.h


def hold(parent: int | None = None) -> None:
    """End from now on when the one that started this process does; a fork does so for itself.

    Args:
        parent: of a fork, the process that it came from, which may be gone by now.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if parent not in (None, os.getppid()):
            os._exit(1)
