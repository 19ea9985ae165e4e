"""``report``: the page that the book has of a deployment, as one HTML file; made by the book."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import catalogue
from calc.commands.printing import BAD_INPUT, print_json
from catalogue import ParamsError

PROGRAM = Path("book", "_ext", "report.py")
NEEDED = ("sphinx", "myst_nb", "papermill", "jupytext", "matplotlib", "sympy")
OPTIONS = {"device": "another device for the same deployment: an identifier or a path",
           "lang": "en or zh; en by default",
           "out": "the HTML file to write; report.html by default",
           "book": "address or folder of a built book, for links into it"}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``report`` takes, besides ``--json``."""
    command.add_argument("scenario", help="identifier or path of a scenario file")
    for name, meaning in OPTIONS.items():
        short = ["-o"] if name == "out" else []
        command.add_argument(*short, f"--{name}", default="", metavar="VALUE", help=meaning)


def run(args: argparse.Namespace) -> int:
    """Have the book make the report, in a process of its own; print where it is.

    Raises ModuleNotFoundError for a library of the extra ``book`` that is not installed, and
    ParamsError where the page cannot be made.
    """
    for library in NEEDED:
        if find_spec(library) is None:
            raise ModuleNotFoundError(f"No module named {library!r}", name=library)
    program = catalogue.ROOT.parent / PROGRAM
    done = subprocess.run(
        [sys.executable, program, *(f"--{name}={getattr(args, name)}" for name in OPTIONS), "--",
         args.scenario], capture_output=True, text=True, check=False)
    if done.returncode == BAD_INPUT:
        raise ParamsError(done.stderr.strip())
    if done.returncode:
        raise ParamsError(f"{args.scenario}: the page could not be made: "
                          f"{done.stderr.strip().splitlines()[-1] if done.stderr else 'no reason'}")
    written = done.stdout.strip()
    print_json({"files": [written]}) if args.json else print(written)
    return done.returncode
