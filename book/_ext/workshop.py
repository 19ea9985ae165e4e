"""A process that has imported what every page needs, and forks for each page.

Importing SymPy, Matplotlib, Papermill and the like takes longer than most pages take to run. The
build starts this file once, as

    python workshop.py JOBS MODULE...

JOBS is a JSON file: how many pages may run at once, and a list of pages. When a page is done, its
number in the list, the exit code and the seconds are a JSON list on a line of standard output. A
page runs in a fork of this process. On Linux each of them ends with the build, as ``lifeline.py``
says.
"""

from __future__ import annotations

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
from pathlib import Path
from typing import Any

import lifeline

BY_ALL = ("papermill", "jupytext", "nbformat", "in_process", "IPython.core.completer",
          "IPython.core.debugger", "IPython.extensions.storemagic")
LATE = ("matplotlib.backends.backend_svg",  # imported when a figure is drawn
        "sympy.physics.units")  # when an expression is simplified
MANY = 3  # pages from which on it pays to load the whole catalogue
COLLECT = (100_000, 50, 1000)  # gc thresholds
_at_import: set[Path] = set()  # files read while modules were imported, which every page takes


class Record(dict[Path, Any]):
    """Files that a page reads, appended to a file as they are read, a line each.

    A parameter file is named relative to ``params/``, another file relative to the project; a
    folder that was listed ends with a slash.
    """

    def __init__(self, target: Path, params: Path) -> None:
        """Append to `target`; `params` is the folder of the parameter files."""
        super().__init__()
        self.results: set[Any] = set()  # as catalogue.reading.yamlfile.Files
        self._file = target.open("a", encoding="utf-8", buffering=1)  # a line at a time
        self._folders = params, params.parent

    def __setitem__(self, path: Path, contents: Any) -> None:
        """Add a file, or a folder that was listed."""
        if path not in self:
            name = next((path.relative_to(folder).as_posix() for folder in self._folders
                         if path.is_relative_to(folder)), str(path))
            self._file.write(f"{name}/\n" if path.is_dir() else f"{name}\n")
        super().__setitem__(path, contents)


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

        sys.path.remove(str(Path(__file__).parent))  # a page does not see the modules of the book
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
    for folder in sorted(module.FOLDER.iterdir()):
        yield from (module.resource(str(path.relative_to(folder).with_suffix("")),
                                    folder.name).compile for path in sorted(folder.rglob("*.ftl")))
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
