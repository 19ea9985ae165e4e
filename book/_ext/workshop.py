"""A process that has imported what every page needs, and forks for each page and each kernel.

Importing SymPy, Matplotlib, Papermill and the like takes longer than most pages take to run. The
build starts this file once, as

    python workshop.py JOBS MODULE...

JOBS is a JSON file: how many pages may run at once, and a list of pages. When a page is done, its
number in the list, the exit code and the seconds are a JSON list on a line of standard output. A
page runs in a fork of this process, and its kernel in a fork of that. On Linux each of them ends
with what it came from, and all with the build, as ``lifeline.py`` says.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import lifeline

BY_ALL = ("papermill", "jupytext", "nbformat", "ipykernel.kernelapp", "ipykernel.ipkernel",
          "ipykernel.debugger", "IPython.core.completer", "IPython.core.completerlib",
          "IPython.core.debugger", "IPython.extensions.storemagic", "sqlite3",
          "tornado.platform.asyncio")
LATE = ("matplotlib.backends.backend_svg",  # imported when a figure is drawn
        "sympy.physics.units")  # when an expression is simplified
MANY = 3  # pages from which on it pays to load the whole catalogue
COLLECT = (100_000, 50, 1000)  # gc thresholds
_at_import: set[Path] = set()  # files read while modules were imported, which every page takes


class Record(dict[Path, Any]):
    """Files that a page and its kernel read, appended to a file as they are read, a line each.

    A parameter file is named relative to ``params/``, another file relative to the project; a
    folder that was listed ends with a slash.
    """

    def __init__(self, target: Path, params: Path) -> None:
        """Append to `target`; `params` is the folder of the parameter files."""
        super().__init__()
        self._file = target.open("a", encoding="utf-8", buffering=1)  # a line at a time
        self._folders = params, params.parent

    def __setitem__(self, path: Path, contents: Any) -> None:
        """Add a file, or a folder that was listed."""
        if path not in self:
            name = next((path.relative_to(folder).as_posix() for folder in self._folders
                         if path.is_relative_to(folder)), str(path))
            self._file.write(f"{name}/\n" if path.is_dir() else f"{name}\n")
        super().__setitem__(path, contents)


class Kernel(ForkProcess):
    """A forked kernel, with what jupyter_client asks of a process that it started."""

    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end, return the exit code."""
        self.join(timeout)
        return self.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.is_alive() and self.pid:
            os.kill(self.pid, number)


def fork_kernel(cmd: list[str], env: dict[str, str] | None = None, cwd: str | None = None,
                **_: Any) -> Kernel:
    """Start a kernel as a fork; stands in for ``jupyter_client.launcher.launch_kernel``."""
    kernel = Kernel(target=run_kernel, args=(os.getpid(), cmd, env or {}, cwd or "."))
    kernel.start()
    assert kernel.pid
    with contextlib.suppress(OSError):  # a group of its own, before anyone signals the group
        os.setpgid(kernel.pid, kernel.pid)
    return kernel


def run_kernel(page: int, command: list[str], environment: dict[str, str], folder: str) -> None:
    """Run a kernel in this process, a fork of the process `page`."""
    lifeline.hold(parent=page)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ |= environment
    os.chdir(folder)
    asyncio.set_event_loop(asyncio.new_event_loop())  # the inherited one is the parent's
    from ipykernel.kernelapp import IPKernelApp

    # said here: the environment was read when the module was imported, before the fork
    parent = f"--IPKernelApp.parent_handle={page}"
    IPKernelApp.launch_instance(argv=[*command[command.index("-f"):], parent])
    os._exit(0)


def start(job: dict[str, Any]) -> int:
    """Begin to run a page; return the number of its process."""
    workshop = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    with contextlib.suppress(BaseException):
        lifeline.hold(parent=workshop)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.environ["IPYTHONDIR"] = job["ipython"]
        import execute
        from jupyter_client.provisioning import local_provisioner

        sys.path.remove(str(Path(__file__).parent))  # a page does not see the modules of the book
        setattr(local_provisioner, "launch_kernel", fork_kernel)  # noqa: B010
        files = importlib.import_module("catalogue.reading.yamlfile")
        record = Record(Path(job["record"]), files.ROOT)
        with files.following(record):
            for path in _at_import:
                record[path] = None
            code = execute.run(Path(job["source"]), Path(job["output"]), job["entry"],
                               job["executed"] and Path(job["executed"]))
    os._exit(code)


def prepare(pages: int, modules: Iterable[str]) -> None:
    """Import what so many pages need and, for many, load the entries of the catalogue.

    `modules` are those that their cells import. A page that takes an entry still records the files
    that the entry was made of.
    """
    for name in BY_ALL:
        importlib.import_module(name)
    sys.modules["nbformat"].v4.new_raw_cell()  # compiles the schema of notebooks
    sys.modules["jupyter_client"].provisioning.KernelProvisionerFactory.instance()  # plugins
    if pages >= MANY:
        with importlib.import_module("catalogue.reading.yamlfile").following() as files:
            for name in (*modules, *LATE):
                with contextlib.suppress(Exception):  # the page says what is wrong with it
                    importlib.import_module(name)
        _at_import.update(files)
        if "catalogue.library" in sys.modules:
            with sys.modules["catalogue.reading.words"].as_for_pages():
                for take in firsts():
                    with contextlib.suppress(Exception):  # likewise
                        take()
    gc.set_threshold(*COLLECT)  # SymPy makes many small things that none refers to in a circle
    gc.freeze()  # what every fork shares is not looked through for garbage, nor copied by that


def firsts() -> Iterator[Callable[[], object]]:
    """Entries and formulas whose first use in a process is slow."""
    library = sys.modules["catalogue.library"]
    engine = importlib.import_module("catalogue.engine")
    loading = importlib.import_module("catalogue.deployments.loading")
    for kind in library.KINDS:
        load = loading.load_family if kind == "scenarios" else partial(library.load, kind)
        yield from (partial(load, name) for name in library.names(kind))
    yield from (partial(engine.load_engine, name) for name in engine.engine_names())
    yield importlib.import_module("catalogue.reading.values").glossary
    yield importlib.import_module("catalogue.kernels").tables
    module = sys.modules["catalogue.messages"]
    yield from (module.messages(str(path.relative_to(module.FOLDER).with_suffix(""))).compile
                for path in sorted(module.FOLDER.rglob("*.ftl")))
    if stored := sys.modules.get("notebooks.derive.formulas.exported"):
        yield lambda: [stored.order(stored.select(stored.load_formulas(), attention))
                       for attention in stored.VARIANTS]  # asks each what it needs
    if checked := sys.modules.get("notebooks.derive.crosscheck"):
        yield checked.bounds_of_steps


def serve(jobs: list[dict[str, Any]], limit: int, modules: Iterable[str]) -> None:
    """Run pages, at most `limit` at once; `modules` are those that their cells import."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the build's own end is ours
    lifeline.hold()
    prepare(len(jobs), modules)
    running: dict[int, tuple[int, float]] = {}
    for number, job in enumerate(jobs):
        running[start(job)] = number, time.monotonic()
        while len(running) >= limit or (running and number == len(jobs) - 1):
            pid, status = os.wait()
            done, begun = running.pop(pid)
            print(json.dumps([done, os.waitstatus_to_exitcode(status), time.monotonic() - begun]),
                  flush=True)


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    serve(given["jobs"], given["limit"], sys.argv[2:])
