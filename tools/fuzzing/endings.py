"""One case: a command is run in this process, and how it ends is judged as a reader would."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import signal
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from calc.commands.deciding.search import UNMET
from calc.commands.main import main
from calc.commands.printing import BAD_INPUT, OK
from catalogue.reading.errors import LONGEST_SENTENCE
from tools.fuzzing.doors import DOORS

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE = 30  # s of the processor: no answer about one small file takes so long
QUOTED = 112  # signs of what an error says
ANSWERED, REFUSED, TRACEBACK, ENDLESS, UNCLEAR = (
    "answered", "refused", "traceback", "endless", "unclear")
HOW = (ANSWERED, REFUSED, TRACEBACK, ENDLESS, UNCLEAR)
GOOD = (ANSWERED, REFUSED)
STOPPED = 128 + signal.SIGTERM
MANY = ("check", "audit")  # commands that tell problem by problem
SEARCHES = ("search",)  # commands whose answer may be that nothing is found, by an exit code


@dataclass(frozen=True)
class Ending:
    """How a command ended.

    Attributes:
        how: ``answered``, ``refused`` in a sentence, ``traceback``, ``endless`` (stopped by us), or
            ``unclear``: another exit code, no sentence or more than one, no JSON.
        why: where it went wrong, or what was printed.
        command: the arguments.
    """

    how: str
    why: str
    command: tuple[str, ...]


class _Endless(BaseException):
    """Nothing that is tried catches it."""


def case(door: str, number: int, folder: Path) -> Ending:
    """Run a case of a door, always the same under a number.

    Args:
        door: of ``DOORS``.
        number: of the case.
        folder: where its files are made, emptied before.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with contextlib.chdir(folder):
        return ended(DOORS[door](Random(f"{door} {number}"), folder))


def ended(command: Sequence[str]) -> Ending:
    """Run a command and judge how it ends."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
          warnings.catch_warnings()):
        warnings.simplefilter("error")  # it would stand on a reader's terminal
        try:
            with _patience():
                code: Any = main(command)
        except SystemExit as left:
            code = left.code
            if code == STOPPED:  # whoever stops the run means all of it
                raise
        except _Endless as stopped:
            return Ending(ENDLESS, _place(stopped), tuple(command))
        except BaseException as error:
            return Ending(TRACEBACK, _place(error), tuple(command))
    printed, said = (stream.buffer.getvalue().decode("utf-8", "replace")
                     for stream in (out, err))
    fault = _fault(command, code, printed, said)
    how = UNCLEAR if fault else REFUSED if code == BAD_INPUT else ANSWERED
    return Ending(how, fault or said, tuple(command))


def _fault(command: Sequence[str], code: Any, printed: str, said: str) -> str:
    """What a reader would complain of; empty where it is nothing."""
    unmet = code == UNMET and command[0] in SEARCHES and printed.strip()
    if code not in (OK, BAD_INPUT) and not unmet:
        return f"exit code {code}: {said}"
    lines = said.splitlines()
    several = len(lines) > 1 and command[0] not in MANY
    if code == BAD_INPUT and (several or not (lines or "--json" in command)):
        return f"{len(lines)} lines, expected one sentence: {said}"
    for line in lines if code == BAD_INPUT else ():
        if (not line.isprintable() or len(line) > LONGEST_SENTENCE
                or line[-1:] not in tuple(".?。？")):
            return f"{len(line)} signs, expected a printable sentence: {line}"
    if "--json" in command and "--help" not in command and "-h" not in command:
        try:
            json.loads(printed, parse_constant=_no_number)
        except ValueError as error:
            return f"no JSON ({error}): {printed[:300]}"
    return ""


def _no_number(constant: str) -> Any:
    raise ValueError(constant)


@contextlib.contextmanager
def _patience() -> Iterator[None]:
    """Stop what does not end."""
    def stop(*_: Any) -> None:
        raise _Endless

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _place(error: BaseException) -> str:
    """What went wrong and where in our own code, in one line: what tells defects apart."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if Path(frame.filename).is_relative_to(PROJECT)]
    last = frames[-1]
    return (f"{Path(last.filename).relative_to(PROJECT)}:{last.lineno}: {type(error).__name__}: "
            f"{str(error)[:QUOTED]}").replace("\n", " ")
