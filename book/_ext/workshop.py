"""A process that has imported what every page needs, and forks for each page and each kernel.

Importing SymPy, Matplotlib, Papermill and the like takes longer than most pages take to run. The
build starts this file once; it imports them once, reads jobs from standard input, one JSON object
per line, and answers each with a line on standard output when the page is done:

    {"id": 1, "arguments": [...], "environment": {...}}
    {"id": 1, "code": 0}

A page runs in a fork of this process, and its kernel in a fork of that. Each of them ends with what
it came from, and all with the build, as ``lifeline.py`` says. Where
forking is not safe (anywhere but on Linux) a page is a process of its own, as ``execute.py`` says.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import lifeline

EXECUTE = Path(__file__).with_name("execute.py")
BY_ALL = ("papermill", "jupytext", "nbformat", "ipykernel.kernelapp", "ipykernel.ipkernel",
          "ipykernel.debugger", "IPython.core.completer", "IPython.core.completerlib",
          "IPython.core.debugger", "IPython.extensions.storemagic", "sqlite3",
          "tornado.platform.asyncio")
LATE = {"matplotlib": "matplotlib.backends.backend_svg",  # imported when a figure is drawn
        "sympy": "sympy.physics.units"}  # when an expression is simplified
SEVERAL = 2  # pages from which on it pays to import what their notebooks import
MANY = 3  # pages from which on it pays to load the whole catalogue
COLLECT = (100_000, 50, 1000)  # gc thresholds
FORKS = sys.platform == "linux"
TICK = 0.02  # s between looks at the pages that run
_kept: list[subprocess.Popen[bytes]] = []
_at_import: set[Path] = set()  # files read while modules were imported, which every page takes


class Record(dict[Path, Any]):
    """Files that a page and its kernel read, appended to a file as they are read, a line each.

    A parameter file is named relative to ``params/``, another file relative to the project; a
    folder that was listed ends with a slash.
    """

    def __init__(self, target: Path, params: Path) -> None:
        """Append to `target`; `params` is the folder of the parameter files."""
        super().__init__()
        self._file = target.open("a", encoding="utf-8")
        self._folders = params, params.parent

    def __setitem__(self, path: Path, contents: Any) -> None:
        """Add a file, or a folder that was listed."""
        if path not in self:
            name = next((path.relative_to(folder).as_posix() for folder in self._folders
                         if path.is_relative_to(folder)), str(path))
            self._file.write(f"{name}/\n" if path.is_dir() else f"{name}\n")
            self._file.flush()
        super().__setitem__(path, contents)

    def __enter__(self) -> Record:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()


class Forked:
    """A forked kernel, with what jupyter_client asks of a process that it started."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        """Take over the child `pid` of this process."""
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        if self.returncode is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if done else None
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, return the exit code."""
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def fork_kernel(cmd: list[str], env: dict[str, str] | None = None, cwd: str | None = None,
                **_: Any) -> Forked:
    """Start a kernel as a fork; stands in for ``jupyter_client.launcher.launch_kernel``."""
    page = os.getpid()
    pid = os.fork()
    with contextlib.suppress(OSError):  # a group of its own, before anyone signals the group
        os.setpgid(pid, pid)
    if pid:
        return Forked(pid)
    with contextlib.suppress(BaseException):
        lifeline.hold(parent=page)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ |= env or {}
        os.chdir(cwd or ".")
        asyncio.set_event_loop(asyncio.new_event_loop())  # the inherited one is the parent's
        from ipykernel.kernelapp import IPKernelApp

        # said here: the environment was read when the module was imported, before the fork
        parent = f"--IPKernelApp.parent_handle={os.getppid()}"
        IPKernelApp.launch_instance(argv=[*cmd[cmd.index("-f"):], parent])
    os._exit(0)


def start(job: dict[str, Any]) -> int:
    """Begin to run a page; return the number of its process."""
    if not FORKS:
        process = subprocess.Popen(
            [sys.executable, str(EXECUTE), *job["arguments"]], env=os.environ | job["environment"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _kept.append(process)  # it ends when its standard input is closed
        return process.pid
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
        os.environ |= job["environment"]
        import execute
        from jupyter_client.provisioning import local_provisioner

        sys.path.remove(str(EXECUTE.parent))  # a page does not see the modules of the book
        setattr(local_provisioner, "launch_kernel", fork_kernel)  # noqa: B010
        files = importlib.import_module("catalogue.reading.yamlfile")
        with Record(Path(job["record"]), files.ROOT) as record, files.following(record):
            for path in _at_import:
                record[path] = None
            code = execute.main(job["arguments"])
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
    if pages >= SEVERAL:
        with importlib.import_module("catalogue.reading.yamlfile").following() as files:
            for name in modules:
                with contextlib.suppress(Exception):  # the page says what is wrong with it
                    importlib.import_module(name)
        _at_import.update(files)
        for package, late in LATE.items():
            if package in sys.modules:
                importlib.import_module(late)
    if pages >= MANY and "catalogue.library" in sys.modules:
        with sys.modules["catalogue.reading.words"].as_for_pages():
            for take in firsts():
                with contextlib.suppress(Exception):  # likewise
                    take()
    gc.set_threshold(*COLLECT)  # SymPy makes many small things that none refers to in a circle
    gc.freeze()  # what every fork shares is not looked through for garbage, nor copied by that


def firsts() -> Iterator[Callable[[], object]]:
    """What takes a process long for the first time only: entries, formulas, a figure."""
    library = sys.modules["catalogue.library"]
    engine = importlib.import_module("catalogue.engines.engine")
    loading = importlib.import_module("catalogue.deployments.loading")
    for kind in library.KINDS:
        load = loading.load_family if kind == "scenarios" else partial(library.load, kind)
        yield from (partial(load, name) for name in library.names(kind))
    yield from (partial(engine.load_engine, name) for name in engine.engine_names())
    yield importlib.import_module("catalogue.reading.shared").glossary
    yield importlib.import_module("catalogue.kernels.releases").tables
    said = sys.modules["catalogue.messages"]
    yield from (partial(said.compile_all, path) for path in sorted(said.FOLDER.rglob("*.ftl")))
    if stored := sys.modules.get("notebooks.derive.formulas.exported"):
        yield lambda: [stored.order(stored.select(stored.load_formulas(), attention))
                       for attention in stored.VARIANTS]  # asks each what it needs
    if checked := sys.modules.get("notebooks.derive.crosscheck"):
        yield checked.bounds_of_steps
    if figures := sys.modules.get("notebooks.show.figures"):
        yield lambda: figures.svg(figures.axes()[0])  # finds the fonts


def serve(pages: int, modules: Iterable[str]) -> None:
    """Take jobs and answer them until standard input closes; then end what still runs.

    `pages` is how many jobs to expect, `modules` are those that their cells import.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the build's own end is ours
    if FORKS:
        lifeline.hold()
        prepare(pages, modules)
    running: dict[int, int] = {}
    unread = b""
    while True:
        if select.select([0], [], [], TICK if running else None)[0]:
            data = os.read(0, 1 << 16)
            if not data:
                break
            *lines, unread = (unread + data).split(b"\n")
            for job in map(json.loads, lines):
                running[start(job)] = job["id"]
        for pid in list(running):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                answer = {"id": running.pop(pid), "code": os.waitstatus_to_exitcode(status)}
                os.write(1, json.dumps(answer).encode() + b"\n")
    for pid in running:
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2:])
