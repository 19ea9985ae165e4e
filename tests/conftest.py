"""Settings of all tests and the fixtures that call the command line."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator

# tests run in parallel: BLAS threads of one test would only wait for those of another
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# tests start Python processes: keep the bytecode, else each compiles the project again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pytest
from hypothesis import settings

sys.dont_write_bytecode = False
gc.set_threshold(100_000, 20, 20)  # entries and modules live until the end of the run
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile("default")  # --hypothesis-profile=nightly replaces it


def pytest_collection_finish() -> None:
    """Exclude collected tests and imported modules from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _no_shell_is_left() -> Iterator[None]:
    """Remove the IPython shell that a page module started, which hides later output."""
    yield
    if shells := sys.modules.get("IPython.core.interactiveshell"):
        shells.InteractiveShell.clear_instance()


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command line; return exit code, standard output and standard error."""
    from calc.commands.main import main

    def call(*args: str) -> tuple[int, str, str]:
        code = main(args)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
