"""Run the notebooks that are stale, side by side, and keep the rest.

A page is stale when its key differs from the one stored beside it; ``inputs.py`` says what is in a
key. Where only prose differs, what the cells printed is kept and no cell runs.

Outputs and keys appear whole or not at all (written elsewhere, then renamed), and an output that
came out the same is not rewritten, so that Sphinx does not read it again.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from . import execute
from .inputs import ALL, Inputs, Page, code_of, digest, files_below, imported

TEMPLATES = {"scenario": "scenarios", "device": "devices", "model": "models",
             "document": "documents"}
LONGEST = ("search", "today", "day", "calculators", "validation", "matrix", "serving", "decide",
           "scenarios")  # pages that begin first
DRAFT = ".draft-"  # how names of files begin that are not finished
RUN, TELL = "run", "tell"  # what a page needs: its cells run, or new words around them
WAITING = 2  # pages beyond the cores: each waits for its kernel a part of its time
FAILED = 1  # the exit code of a page that says why, where there is room for that
INTERRUPTED = -1  # in place of the exit code of a page that never came to its end


class NotebookError(Exception):
    """Notebooks stopped; the message names each one, its cell and the reason."""


@dataclass(frozen=True)
class Folders:
    """Where a project keeps what the pipeline reads and writes; `root` is the project."""

    root: Path

    @property
    def chapters(self) -> Path:
        """The folder of executed notebooks."""
        return self.root / "book" / "chapters"

    def output(self, page: Page) -> Path:
        """The executed notebook of `page`."""
        return self.chapters / f"{page.name}.ipynb"

    def key(self, page: Page) -> Path:
        """The file that says what the executed notebook of `page` was made from."""
        return self.chapters / ".keys" / f"{page.name}.json"


def pages(root: Path) -> list[Page]:
    """List the pages of the project: one per notebook, a template once per entry of its kind."""
    listed: list[Page] = []
    for source in sorted((root / "notebooks").glob("*.md")):
        kind = TEMPLATES.get(source.stem)
        listed += [Page(source.stem, source)] if kind is None else [
            Page(f"{kind}/{path.stem}", source, path.stem)
            for path in sorted((root / "params" / kind).glob("*.yml"))]
    return listed


def needed(page: Page, folders: Folders, inputs: Inputs) -> str | None:
    """What it takes to bring `page` up to date: ``RUN``, ``TELL``, or nothing."""
    try:
        stored = json.loads(folders.key(page).read_text(encoding="utf-8"))
        output = folders.output(page).read_bytes()
        if (stored["output"] != digest(output)
                or stored["inputs"] != inputs.key(page, stored["params"])):
            return RUN
        return None if stored["words"] == inputs.words(page) else TELL
    except (OSError, ValueError, KeyError, TypeError):
        return RUN


def put(target: Path, data: bytes, work: Path | None = None) -> None:
    """Write `data` to `target` in one step, by way of `work` on the same disk, or of a draft beside
    it, which the next build clears if it is left."""
    if target.is_file() and target.read_bytes() == data:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=DRAFT, dir=work or target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


class Runner:
    """Has pages run side by side by a process that forks for each, and stores what comes out.

    New words for a page that is no entry's are put around its outputs here.
    """

    def __init__(self, root: Path, inputs: Inputs, work: Path, needs: dict[Page, str]) -> None:
        """Prepare pages of the project at `root` by their needs; `work` is for unfinished files."""
        self._folders = Folders(root)
        self._inputs = inputs
        self._work = work
        self._waiting: dict[int, queue.SimpleQueue[int]] = {}
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        forked = [page for page, need in needs.items() if not _is_told_here(page, need)]
        self._process = self._start(forked) if forked else None
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _start(self, pages: list[Page]) -> subprocess.Popen[bytes]:
        """Start the process that forks for so many pages."""
        imports = [str(self._folders.root), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {  # its own packages, whichever copy is installed
            "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(filter(None, imports)),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            "OPENBLAS_NUM_THREADS": "1",  # pages run side by side, their sums are small
            "BOOK_PAGE": "1",  # links to other pages of the book hold
        }
        code = dict.fromkeys(code_of(page.source.read_text(encoding="utf-8")) for page in pages)
        modules = dict.fromkeys(name for each in code for name in imported(each))
        return subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("workshop.py")), str(len(pages)),
             *modules], env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def _listen(self) -> None:
        """Hand every answer to the page that waits for it; at the end none is left waiting."""
        if self._process is None:
            return
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            self._waiting.pop(answer["id"]).put(answer["code"])
        with self._lock:
            for waiting in self._waiting.values():
                waiting.put(INTERRUPTED)
            self._waiting.clear()

    def _execute(self, job: dict[str, object]) -> int:
        """Give a job to the process and wait for the exit code."""
        answer: queue.SimpleQueue[int] = queue.SimpleQueue()
        assert self._process is not None
        assert self._process.stdin is not None
        with self._lock:
            number = next(self._numbers)
            self._waiting[number] = answer
            try:
                self._process.stdin.write(json.dumps(job | {"id": number}).encode() + b"\n")
                self._process.stdin.flush()
            except (OSError, ValueError):  # it is gone
                self._waiting.pop(number, None)
                return INTERRUPTED
        return answer.get()

    def run(self, page: Page, need: str) -> float:
        """Execute `page`, or only put its new words around what its cells printed; store notebook
        and key, return the seconds. Raises NotebookError.
        """
        start = time.monotonic()
        stem = page.name.replace("/", "--")
        output, record = self._work / f"{stem}.ipynb", self._work / f"{stem}.record"
        executed = str(self._folders.output(page)) if need == TELL else ""
        arguments = [str(page.source), str(output), page.entry or "", executed]
        if _is_told_here(page, need):
            code = execute.main(arguments)
        else:
            code = self._execute({"arguments": arguments, "record": str(record), "environment": {
                "IPYTHONDIR": str(self._work / f"{stem}.ipython")}})
        if code:
            name = page.source.relative_to(self._folders.root).as_posix()
            of = f" for {page.entry}" if page.entry else ""
            note = output.with_suffix(".reason")
            reason = (note.read_text(encoding="utf-8") if note.is_file() else
                      "could not write its files" if code == FAILED else "was interrupted")
            raise NotebookError(f"{name}{of} {reason}")
        if need == TELL:
            recorded = json.loads(self._folders.key(page).read_text(encoding="utf-8"))["params"]
        else:
            lines = record.read_text(encoding="utf-8").splitlines() if record.is_file() else ALL
            recorded = sorted(set(lines))
        data = output.read_bytes()
        key = {"inputs": self._inputs.key(page, recorded), "words": self._inputs.words(page),
               "output": digest(data), "params": recorded}
        put(self._folders.output(page), data, self._work)
        put(self._folders.key(page), json.dumps(key, indent=1).encode(), self._work)
        return time.monotonic() - start

    def stop(self) -> None:
        """End the process, and with it the pages that still run, whatever it is doing."""
        if self._process is None:
            return
        self._process.kill()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        self._process.wait()
        self._listener.join()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _is_told_here(page: Page, need: str) -> bool:
    return need == TELL and page.entry is None


def remove_orphans(folders: Folders, wanted: list[Page]) -> None:
    """Delete outputs and keys of pages that the project no longer has."""
    keep = {path for page in wanted for path in (folders.output(page), folders.key(page))}
    for path in files_below(folders.chapters):
        if path.suffix in {".ipynb", ".json"} and path not in keep:
            path.unlink()


def _by_length(page: Page) -> tuple[int, bool]:
    """The longest first; a derivation takes longer than an entry."""
    place = LONGEST.index(page.name) if page.name in LONGEST else len(LONGEST)
    return place, page.entry is not None


def build(root: Path, report: Callable[[str], None] = print, jobs: int | None = None) -> list[str]:
    """Bring the executed notebooks of the project at `root` up to date.

    Runs at most `jobs` notebooks at once (default: `WAITING` more than cores), reports a line for
    each, and returns the names of the pages that ran. Raises NotebookError when notebooks stopped;
    what finished beside them is kept.
    """
    folders = Folders(root)
    folders.chapters.mkdir(parents=True, exist_ok=True)
    for unfinished in folders.chapters.glob(".work-*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    wanted = pages(root)
    remove_orphans(folders, wanted)
    inputs = Inputs(root)
    stale = {page: need for page in sorted(wanted, key=_by_length)
             if (need := needed(page, folders, inputs))}
    if not stale:
        report(f"notebooks: {len(wanted)} up to date")
        return []
    work = Path(tempfile.mkdtemp(prefix=".work-", dir=folders.chapters))
    runner = Runner(root, inputs, work, stale)
    failures: list[str] = []
    pool = ThreadPoolExecutor(jobs or (os.cpu_count() or 1) + WAITING)
    try:
        running = {pool.submit(runner.run, page, need): page for page, need in stale.items()}
        for count, future in enumerate(as_completed(running), start=1):
            name = running[future].name
            try:
                report(f"notebooks: [{count}/{len(stale)}] {name} {future.result():.1f} s")
            except NotebookError as error:
                report(f"notebooks: [{count}/{len(stale)}] {name} failed")
                failures.append(str(error))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        runner.stop()
        pool.shutdown(wait=True)
        shutil.rmtree(work, ignore_errors=True)
    if failures:
        raise NotebookError("\n".join(sorted(failures)))
    return [page.name for page in stale]
