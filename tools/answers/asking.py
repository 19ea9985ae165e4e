"""Ask the command line a question: exit code, JSON values without prose, and files written.

Imports nothing of the project but `calc.__main__`, so that the baseline can ask an older checkout.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

import calc
from calc.__main__ import main as command

HERE = Path(__file__).parent
TEMPLATES = Path(calc.__file__).parents[1] / "params" / "templates"
CONFIG = "config.json"  # of a Hugging Face model
QUESTIONS = tuple(line for line in (HERE / "questions.txt").read_text("utf-8").splitlines()
                  if line and not line.startswith("#"))
ENVIRONMENT = ("COLUMNS", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")  # changes what is printed
RUN = ("asked", "schema", "sweep", "version")  # names of the run, with the version of the code
IDENTIFIER = re.compile(r"[!-~]*")  # a string without spaces and without Chinese
NUMBER = re.compile(r"\d[\d.]*(?:e[-+]?\d+)?")
SCRIPTS = (".sh", ".env")


def answer(question: str) -> dict[str, Any]:
    """Run a command with ``--json`` in an empty folder with templates and `CONFIG`.

    Returns its exit code, its JSON without prose, and a digest of each file it wrote: of the whole
    text of scripts, of the numbers in other files.
    """
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path()
        shutil.copytree(TEMPLATES, TEMPLATES.name)
        shutil.copy(HERE / CONFIG, folder)
        given = set(folder.rglob("*"))
        code, printed, _ = run([*shlex.split(words_for_checkout(question)), "--json"])
        values = {key: value for key, value in json.loads(printed or "{}").items()
                  if key not in RUN}
        files = {path.as_posix(): digest(path)
                 for path in sorted(set(folder.rglob("*")) - given) if path.is_file()}
    result = {"code": code, "values": without_prose(values), "files": files}
    return {key: value for key, value in result.items() if value or key == "code"}


def words_for_checkout(question: str) -> str:
    """A question as the checkout that answers takes it, which may be older."""
    if find_spec("calc.commands.view") is not None:
        return question
    earlier: dict[str, str] = yaml.safe_load((HERE / "earlier.yml").read_text("utf-8"))
    return earlier.get(question, question)


def without_prose(value: Any) -> Any:
    """Keep numbers, identifiers and structure; drop sentences and titles."""
    if isinstance(value, dict):
        return {key: without_prose(item) for key, item in value.items() if not is_prose(item)}
    if isinstance(value, list):
        return [without_prose(item) for item in value if not is_prose(item)]
    return value


def is_prose(value: Any) -> bool:
    """Whether a value is a string that is no identifier."""
    return isinstance(value, str) and not IDENTIFIER.fullmatch(value)


def digest(path: Path) -> str:
    """First 16 hexadecimal digits of the SHA-256 of a script, or of the numbers of a file."""
    text = path.read_text("utf-8")
    if path.suffix not in SCRIPTS:
        text = " ".join(NUMBER.findall(text))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def run(arguments: list[str]) -> tuple[int, str, str]:
    """Run a command in this process as ``python -m calc`` does, whatever language is set.

    Returns its exit code, its standard output and its standard error.
    """
    unset = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        with (mock.patch.dict(os.environ, unset, clear=True),
              mock.patch.object(sys, "argv", ["calc", *arguments]),
              contextlib.redirect_stdout(io.StringIO()) as printed,
              contextlib.redirect_stderr(io.StringIO()) as errors):
            code = command()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return code, printed.getvalue(), errors.getvalue()
