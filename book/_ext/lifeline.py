"""End with the process that started us, however that one ended.

Linux tells us, at any moment. Elsewhere the build gives its helpers a pipe as standard input and
never writes to it: reading from it returns when the build is gone.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading

TOLD = sys.platform == "linux"
PR_SET_PDEATHSIG = 1  # of the kernel's own list, linux/prctl.h


def _wait() -> None:
    os.read(0, 1)  # not sys.stdin: its lock must be free when this process ends by itself
    os._exit(1)


def hold(number: int = signal.SIGKILL, parent: int | None = None) -> None:
    """End from now on when the one that started this process does; a fork does so for itself.

    Args:
        number: the signal by which Linux ends it.
        parent: of a fork, the process that it came from, which may be gone by now.
    """
    if not TOLD:
        threading.Thread(target=_wait, daemon=True).start()
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number))
    if parent not in (None, os.getppid()):
        os._exit(1)
