"""A question to the command line, and all that it answers: what it prints and what it writes."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from distributed import LocalCluster

from calc.commands.main import main as command

TEMPLATES = Path(__file__).parents[2] / "params" / "templates"
CLUSTER = "CLUSTER"  # in a question, the address of one that is started here
ENVIRONMENT = ("COLUMNS", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")  # changes what is printed
RUN = ("asked", "version", "sweep")  # name a run: that address, what is installed, NumPy's version


def answer(question: str) -> dict[str, Any]:
    """Exit code, what is printed and said, and the files written, of a command in an empty folder.

    JSON is read, other text is given by line; Parquet is left out, its names hold NumPy's version.
    """
    with contextlib.ExitStack() as stack:
        said = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        complained = stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        shutil.copytree(TEMPLATES, folder / TEMPLATES.name)
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(_environment())
        if CLUSTER in question:  # a command ends all processes that it finds
            scratch = stack.enter_context(tempfile.TemporaryDirectory())
            cluster = stack.enter_context(LocalCluster(
                n_workers=1, threads_per_worker=1, dashboard_address=None,
                local_directory=scratch))
            question = question.replace(CLUSTER, cluster.scheduler_address)
        code = command(shlex.split(question))
        files = {path.relative_to(folder).as_posix(): _told(path.read_text(encoding="utf-8"))
                 for path in sorted(folder.rglob("*"))
                 if path.is_file() and path.suffix != ".parquet"
                 and TEMPLATES.name not in path.parts}
    told = {"code": code, "printed": _told(said.getvalue()),
            "said": complained.getvalue().splitlines(), "files": files}
    return {key: value for key, value in told.items() if value or key == "code"}


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Neither a terminal's width nor a language."""
    apart = {name: os.environ.pop(name) for name in ENVIRONMENT if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(apart)


def _told(text: str) -> Any:
    """A text as JSON, without what only names the run, or its lines."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return text.splitlines()
    return ({key: value for key, value in found.items() if key not in RUN}
            if isinstance(found, dict) else found)
