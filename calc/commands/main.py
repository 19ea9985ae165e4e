"""The command line, ``python -m calc COMMAND`` or ``will-it-fit COMMAND``; see ``--help``."""

from __future__ import annotations

import argparse
import gc
import io
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import InvalidStateError
from importlib import import_module
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import calc
from calc.commands.printing import BAD_INPUT, INTERRUPTED, OK, begin, print_error, speak
from catalogue import ParamsError
from catalogue.messages import LANGUAGES

SCRIPT = "will-it-fit"  # what the package installs
COLLECTED = 200_000  # objects made since it was last looked for circles of them
EXTRAS = {"analysis": ("distributed", "pyarrow", "SALib", "scipy"),
          "book": ("jupytext", "matplotlib", "myst_nb", "nbformat", "papermill", "sphinx", "sympy")}
"""Extra of the package -> libraries that it brings; single commands need them."""
LISTED = ("models", "devices", "links", "nodes", "scenarios")
COMMANDS: dict[str, tuple[str, str]] = {
    "check": ("check", "check every file of the catalogue, or those given"),
    **{kind: ("listing", f"list the {kind}, or show one") for kind in LISTED},
    "estimate": ("estimate", "whether a deployment fits, its latency, throughput and what binds "
                             "them; what would fit"),
    "cost": ("deciding.cost", "what a deployment's tokens, energy and years cost, and when it "
                              "pays"),
    "simulate": ("simulate", "arrivals at a deployment, step by step: percentiles, goodput"),
    "sweep": ("deciding.sweep", "any number of deployments, on this machine or a cluster: their "
                                "front, the best, or all of them as Parquet"),
    "validate": ("evidence.validate", "errors of every prediction of a measured row"),
    "calibrate": ("evidence.calibrate", "fit a calibration to its measured rows"),
    "discrepancy": ("evidence.discrepancy",
                    "the formulas' own error by class of systems, for intervals"),
    "kernels": ("evidence.kernels", "tables of measured operators: what is in them, what is wrong"),
    "capacity": ("deciding.capacity", "replicas for a day of users, failures, tiers, more cards"),
    "import-model": ("import_model",
                     "write a model file from the config.json of a Hugging Face model"),
    "search": ("deciding.search", "every deployment that meets a goal, the best of them, and what "
                                  "was left out"),
    "decide": ("deciding.decide", "what a decision hangs on: elasticities, tornado, break-even, "
                                  "worth of measuring"),
    "audit": ("evidence.audit",
              "every claim of the documents with a computed verdict, and what is right"),
    "deploy": ("deciding.deploy",
               "the files that start and watch a deployment, in a directory of their own"),
    "report": ("report", "a deployment's page of the book, as one HTML file"),
    "engines": ("engines", "which arguments, variables and metrics an engine has in which release"),
}
"""Name -> module of this room that does it, loaded when it is asked for; and its purpose."""


class _Parser(argparse.ArgumentParser):
    """Argument errors in one sentence, exit code 2."""

    def error(self, message: str) -> Any:
        """Print one sentence and exit with code 2."""
        print_error(f"{self.prog}: {message}.")
        self.exit(BAD_INPUT)


def _name() -> str:
    """How the command line was called: by its installed name, or as a module."""
    called = Path(sys.argv[0]).name
    return called if called == SCRIPT else "python -m calc"


def _parser(asked: Sequence[str]) -> argparse.ArgumentParser:
    """The arguments of the command that is asked for; of the others their names."""
    parser = _Parser(prog=_name(), description=__doc__)
    if "--version" in asked:
        parser.add_argument("--version", action="version", version=f"{SCRIPT} {calc.__version__}")
    else:
        parser.add_argument("--version", action="store_true", help="print the version")
    parser.add_argument("--lang", choices=LANGUAGES, dest="spoken", default=_language(),
                        help="language of what is printed for people; that of the environment")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    for name, (_, purpose) in COMMANDS.items():
        command = commands.add_parser(name, help=purpose)
        if name in asked:
            _module(name).add_arguments(command)
        command.add_argument("--json", action="store_true", help="print JSON in SI units")
        if name != "report":  # whose option of this name is the page's
            command.add_argument("--lang", choices=LANGUAGES, dest="spoken",
                                 default=argparse.SUPPRESS, help="language of the answer")
    return parser


def _language() -> str:
    """The language of the environment, of those that are spoken."""
    said = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if said.startswith("zh") else "en"


def _module(name: str) -> Any:
    return import_module(f"{__package__}.{COMMANDS[name][0]}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0, 2 for input that cannot be used, or 130 if it was interrupted.

    Whoever ends it by SIGTERM ends the processes that it has started, too.
    """
    gc.set_threshold(COLLECTED)  # files hold no circle: looking often took a fifth of an estimate
    alone = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, _terminated) if alone else None
    try:
        with threadpool_limits(1, "blas"):  # its sums are small: threads would wait for each other
            return _run(argv)
    finally:
        speak(LANGUAGES[0])  # to whoever called
        if left := multiprocessing.active_children():
            threading.excepthook = _unless_ended
        for process in left:  # one that is just being forked would pass over a SIGTERM
            process.kill()
        if alone:  # whoever called ends as it did before
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _unless_ended(problem: threading.ExceptHookArgs) -> None:
    """Nothing is said of a pool's own thread that finds its processes ended."""
    if not issubclass(problem.exc_type, InvalidStateError):
        threading.__excepthook__(problem)


def _run(argv: Sequence[str] | None) -> int:
    """Run one command; its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 gets question marks
    asked = sys.argv[1:] if argv is None else argv
    begin(asked)
    args = _parser(asked).parse_args(asked)
    speak(args.spoken)
    try:
        code = _module(args.command).run(args)
        print(end="", flush=True)
        return code
    except ParamsError as error:
        print_error(str(error))
        return BAD_INPUT
    except ModuleNotFoundError as error:
        print_error(_lacks(args.command, error))
        return BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except OSError as error:  # a full disk under the output
        print(f"the output cannot be written ({str(error.strerror).lower()}).", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered goes nowhere
        return BAD_INPUT


def _lacks(command: str, error: ModuleNotFoundError) -> str:
    """Which extra a command needs; what belongs to none is raised again."""
    library = str(error.name).partition(".")[0]
    for extra, libraries in EXTRAS.items():
        if library in libraries:
            wheel = f"will_it_fit-{calc.__version__}-py3-none-any.whl[{extra}]"
            return (f"{command}: the library {library} is not installed, expected the package with "
                    f"its extra: pip install '{wheel}'.")
    raise error


def _terminated(number: int, _: Any) -> None:
    raise SystemExit(128 + number)  # as a shell tells of a signal
