"""Entry point of ``python -m calc``."""

import gc
import os
import signal
import sys


def main() -> int:
    """Run the command that the program was called with; its exit code."""
    # a Ctrl-C waits until there is somebody to answer it
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    gc.disable()  # modules hold no circle that is worth looking for; a command turns it on
    # pydantic would look for plugins in every package that is installed
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for library in ("OPENBLAS", "MKL", "OMP"):  # matrices are small: threads would only wait
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    from calc.commands.main import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
