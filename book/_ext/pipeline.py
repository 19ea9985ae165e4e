"""Run the notebooks that are stale, side by side, and keep the rest.

A page is stale when its key differs from the one stored beside it; ``inputs.py`` says what is in a
key. Where only prose differs, what the cells printed is kept and no cell runs.

Outputs and keys appear whole or not at all (written elsewhere, then renamed), and an output that
came out the same is not rewritten, so that Sphinx does not read it again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from .page_inputs import ALL, CHAPTERS, Inputs, Page, code_of, digest, files_below, imported

TEMPLATES = {"scenario": "scenarios", "device": "devices", "model": "models",
             "document": "documents"}
LONGEST = ("search", "today", "day", "calculators", "validation", "matrix", "serving", "decide",
           "scenarios")  # pages that begin first
DRAFT = ".draft-"  # how names of files begin that are not finished
RUN, TELL = "run", "tell"  # what a page needs: its cells run, or new words around them


class NotebookError(Exception):
    """Notebooks stopped; the message names each one, its cell and the reason."""


def pages(root: Path) -> list[Page]:
    """List the pages of the project: one per notebook, a template once per entry of its kind."""
    listed: list[Page] = []
    for source in sorted((root / "notebooks").glob("*.md")):
        kind = TEMPLATES.get(source.stem)
        listed += [Page(source.stem, source)] if kind is None else [
            Page(f"{kind}/{path.stem}", source, path.stem)
            for path in sorted((root / "params" / kind).glob("*.yml"))]
    return listed


def needed(page: Page, inputs: Inputs) -> str | None:
    """What it takes to bring `page` up to date: ``RUN``, ``TELL``, or nothing."""
    try:
        stored = json.loads(page.key.read_text(encoding="utf-8"))
        output = page.output.read_bytes()
        if (stored["output"] != digest(output)
                or stored["inputs"] != inputs.key(page, stored["params"])):
            return RUN
        return None if stored["words"] == inputs.words(page) else TELL
    except (OSError, ValueError, KeyError, TypeError):
        return RUN


def put(target: Path, data: bytes) -> None:
    """Write `data` to `target` in one step, by way of a draft beside it, which the next build
    clears if it is left; an equal file is left alone."""
    if target.is_file() and target.read_bytes() == data:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f"{DRAFT}{os.getpid()}-{target.name}")
    draft.write_bytes(data)
    draft.replace(target)


def workshop(root: Path, work: Path, needs: dict[Page, str], limit: int
              ) -> subprocess.Popen[bytes]:
    """Start the process that forks for each of the pages."""
    jobs = []
    for page, need in needs.items():
        files = _unfinished(page, work)
        jobs.append({"source": str(page.source), "output": str(files), "entry": page.entry,
                     "executed": str(page.output) if need == TELL else None,
                     "record": str(files.with_suffix(".record")),
                     "ipython": str(files.with_suffix(".ipython"))})
    listed = work / "jobs.json"
    listed.write_text(json.dumps({"limit": limit, "jobs": jobs}), encoding="utf-8")
    code = dict.fromkeys(code_of(page.source.read_text(encoding="utf-8"))
                         for page, need in needs.items() if need == RUN)
    modules = dict.fromkeys(name for text in code for name in imported(text))
    imports = [str(root), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {  # its own packages, whichever copy is installed
        "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(filter(None, imports)),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "OPENBLAS_NUM_THREADS": "1",  # pages run side by side, their sums are small
        "BOOK_PAGE": "1",  # links to other pages of the book hold
    }
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("workshop.py")), str(listed), *modules],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)


def _unfinished(page: Page, work: Path) -> Path:
    """The executed notebook of `page` before it is stored."""
    return work / f"{page.name.replace('/', '--')}.ipynb"


def store(page: Page, need: str, inputs: Inputs, work: Path) -> None:
    """Store the executed notebook of `page`, and its key."""
    output = _unfinished(page, work)
    record = output.with_suffix(".record")
    if need == TELL:
        recorded = json.loads(page.key.read_text(encoding="utf-8"))["params"]
    else:
        lines = record.read_text(encoding="utf-8").splitlines() if record.is_file() else ALL
        recorded = sorted(set(lines))
    data = output.read_bytes()
    key = {"inputs": inputs.key(page, recorded), "words": inputs.words(page),
           "output": digest(data), "params": recorded}
    put(page.output, data)
    put(page.key, json.dumps(key, indent=1).encode())


def failure(page: Page, root: Path, work: Path) -> str:
    """Why `page` has no result, with its name."""
    note = _unfinished(page, work).with_suffix(".reason")
    reason = note.read_text(encoding="utf-8") if note.is_file() else "was interrupted"
    name = page.source.relative_to(root).as_posix()
    return f"{name} for {page.entry} {reason}" if page.entry else f"{name} {reason}"


def remove_orphans(chapters: Path, wanted: list[Page]) -> None:
    """Delete outputs and keys of pages that the project no longer has."""
    keep = {path for page in wanted for path in (page.output, page.key)}
    for path in files_below(chapters):
        if path.suffix in {".ipynb", ".json"} and path not in keep:
            path.unlink()


def by_length(page: Page) -> tuple[int, bool]:
    """The longest first; a derivation takes longer than an entry."""
    rank = LONGEST.index(page.name) if page.name in LONGEST else len(LONGEST)
    return rank, page.entry is not None


def build(root: Path, report: Callable[[str], None] = print, jobs: int | None = None) -> list[str]:
    """Bring the executed notebooks of the project at `root` up to date.

    Runs at most `jobs` notebooks at once (default: as many as cores), reports a line for
    each, and returns the names of the pages that ran. Raises NotebookError when notebooks stopped;
    what finished beside them is kept.
    """
    chapters = root / CHAPTERS
    chapters.mkdir(parents=True, exist_ok=True)
    for unfinished in chapters.glob(".work-*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    wanted = pages(root)
    remove_orphans(chapters, wanted)
    inputs = Inputs(root)
    stale = {page: need for page in sorted(wanted, key=by_length)
             if (need := needed(page, inputs))}
    if not stale:
        report(f"notebooks: {len(wanted)} up to date")
        return []
    work = Path(tempfile.mkdtemp(prefix=".work-", dir=chapters))
    process = workshop(root, work, stale, jobs or os.cpu_count() or 1)
    started = list(stale)
    failed = set(started)
    try:
        assert process.stdout is not None
        for count, line in enumerate(process.stdout, start=1):
            number, code, seconds = json.loads(line)
            page = started[number]
            if code == 0:
                store(page, stale[page], inputs, work)
                failed.remove(page)
            report(f"notebooks: [{count}/{len(stale)}] {page.name} "
                   + ("failed" if code else f"{seconds:.1f} s"))
        failures = [failure(page, root, work) for page in failed]
    finally:
        with process:
            process.kill()
        shutil.rmtree(work, ignore_errors=True)
    if failures:
        raise NotebookError("\n".join(sorted(failures)))
    return [page.name for page in stale]
