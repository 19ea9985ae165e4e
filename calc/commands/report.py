"""``report``: the page that the book has of a deployment, as one HTML file; made by the book."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import catalogue
from calc.commands.arguments import add_scenario
from calc.commands.printing import BAD_INPUT, print_json, spoken
from catalogue import ParamsError
from catalogue.messages import messages

say = messages("calc/commands/report")

PROGRAM = Path("book", "_ext", "report.py")
NEEDED = ("sphinx", "myst_nb", "papermill", "jupytext", "matplotlib", "sympy")
OPTIONS = ("device", "lang", "out", "book")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``report`` takes, besides ``--json``."""
    add_scenario(command)
    for name, meaning in zip(OPTIONS, (say("help-device"), say("help-lang"), say("help-out"),
                                       say("help-book")), strict=True):
        short = ["-o"] if name == "out" else []
        command.add_argument(*short, f"--{name}", default="", metavar="VALUE",
                             help=spoken(meaning))


def run(args: argparse.Namespace) -> int:
    """Have the book make the report, in a process of its own; print where it is.

    Raises ModuleNotFoundError for a library of the extra ``book`` that is not installed, and
    ParamsError where the page cannot be made.
    """
    for library in NEEDED:
        if find_spec(library) is None:
            raise ModuleNotFoundError(f"No module named {library!r}", name=library)
    program = catalogue.ROOT.parent / PROGRAM
    command = [sys.executable, str(program), *(
        f"--{name}={getattr(args, name)}" for name in OPTIONS), "--", args.scenario]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                          ) as running:
        try:
            printed, errors = running.communicate()
        except BaseException:  # it ends with this one, and clears up first
            running.terminate()
            running.wait()
            raise
    code = running.returncode
    if code == BAD_INPUT:
        raise ParamsError(errors.strip())
    if code:
        lines = errors.strip().splitlines()
        raise ParamsError(spoken(say("not-made", scenario=args.scenario,
                                     why=lines[-1].rstrip(".") if lines else say("no-reason"))))
    written = printed.strip()
    print_json({"files": [written]}) if args.json else print(written)
    return code
