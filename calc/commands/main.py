"""The command line, ``python -m calc COMMAND`` or ``will-it-fit COMMAND``; see ``--help``."""

from __future__ import annotations

import argparse
import atexit
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

import calc
from calc.commands.arguments import Parser, language
from calc.commands.printing import BAD_INPUT, INTERRUPTED, OK, begin, print_error, speak, spoken
from catalogue import ParamsError
from catalogue.messages import LANGUAGES, Pair, messages

common = messages("common")
say = messages("calc/commands/main")

SCRIPT = "will-it-fit"  # what the package installs
NOTHING: Pair = ("", "")
COLLECTED = 200_000  # objects made since it was last looked for circles of them
EXTRAS = {"analysis": ("distributed", "pandas", "pyarrow", "scipy"),
          "report": ("fluent", "matplotlib"),
          "book": ("jupytext", "myst_nb", "nbformat", "papermill", "sphinx", "sympy")}
"""Extra of the package -> libraries that it brings; single commands need them."""
LISTED = ("models", "devices", "links", "nodes", "scenarios")
COMMANDS = {
    "check": "check", **dict.fromkeys(LISTED, "listing"), "estimate": "estimate",
    "cost": "deciding.cost", "simulate": "simulate", "sweep": "deciding.sweep",
    "validate": "evidence.validate", "calibrate": "evidence.calibrate",
    "discrepancy": "evidence.discrepancy", "kernels": "evidence.kernels",
    "capacity": "deciding.capacity", "import-model": "import_model", "search": "deciding.search",
    "decide": "deciding.decide", "audit": "evidence.audit", "log": "evidence.log",
    "deploy": "deciding.deploy", "report": "report", "engines": "engines"}
"""Name -> module of this room that does it, loaded when it is asked for."""


def purposes_of_commands() -> dict[str, Pair]:
    """What each command is for."""
    return {"check": say("check"), **{kind: say("listing", kind=kind) for kind in LISTED},
            "estimate": say("estimate"), "cost": say("cost"), "simulate": say("simulate"),
            "sweep": say("sweep"), "validate": say("validate"), "calibrate": say("calibrate"),
            "discrepancy": say("discrepancy"), "kernels": say("kernels"),
            "capacity": say("capacity"), "import-model": say("import-model"),
            "search": say("search"), "decide": say("decide"), "audit": say("audit"),
            "log": say("log"),
            "deploy": say("deploy"), "report": say("report"), "engines": say("engines")}


def command_parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """The arguments of the command that is asked for; of the others their names, and what they are
    for where that is asked."""
    helped = not {"-h", "--help"}.isdisjoint(argv)
    called = SCRIPT if Path(sys.argv[0]).name == SCRIPT else "python -m calc"
    parser = Parser(prog=called, description=spoken(say("description")) if helped else None)
    if "--version" in argv:
        parser.add_argument("--version", action="version", version=f"{SCRIPT} {calc.__version__}")
    else:
        parser.add_argument("--version", action="store_true", help=spoken(say("version")))
    parser.add_argument("--lang", choices=LANGUAGES, dest="spoken", default=language(argv),
                        help=spoken(say("lang")))
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    purposes = purposes_of_commands() if helped else {}
    for name in COMMANDS:
        command = commands.add_parser(name, help=spoken(purposes.get(name, NOTHING)))
        if name not in argv:
            continue
        _module(name).add_arguments(command)
        command.add_argument("--json", action="store_true", help=spoken(common("help-json")))
        if name != "report":  # whose option of this name is the page's
            command.add_argument("--lang", choices=LANGUAGES, dest="spoken",
                                 default=argparse.SUPPRESS, help=spoken(say("lang-of-answer")))
    return parser


def _module(name: str) -> Any:
    return import_module(f"{__package__}.{COMMANDS[name]}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0, 2 for input that cannot be used, or 130 if it was interrupted.

    Whoever ends it by SIGTERM ends the processes that it has started, too.
    """
    gc.set_threshold(COLLECTED)  # files hold no circle: looking often took a fifth of an estimate
    gc.enable()
    atexit.register(gc.freeze)  # nor does what ends with the process: that took another sixth
    alone = threading.current_thread() is threading.main_thread()
    of_caller = set(threading.enumerate())
    before = signal.signal(signal.SIGTERM, _terminated) if alone else None
    try:
        return run_interruptibly(argv)
    finally:
        speak(LANGUAGES[0])  # to whoever called
        end_processes(of_caller)
        if alone:  # whoever called ends as it did before
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def end_processes(of_caller: set[threading.Thread]) -> None:
    """End what is left of processes, and wait for the threads that watch them.

    Such a thread closes the pipe that the end of this process would otherwise write to.
    """
    if not (left := multiprocessing.active_children()):
        return
    threading.excepthook = lambda problem: (  # a pool's own thread finds its processes ended
        None if issubclass(problem.exc_type, InvalidStateError)
        else threading.__excepthook__(problem))
    for process in left:  # one that is just being forked would pass over a SIGTERM
        process.kill()
    for thread in set(threading.enumerate()) - of_caller:
        if not thread.daemon:
            thread.join()


def run_interruptibly(argv: Sequence[str] | None) -> int:
    """Run one command, which Ctrl-C ends in a sentence at any moment; its exit code."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        return _run(argv)
    except KeyboardInterrupt:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # another says nothing new
        print(spoken(say("interrupted")), file=sys.stderr)
        return INTERRUPTED
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run(argv: Sequence[str] | None) -> int:
    """Run one command; its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 gets question marks
    words = sys.argv[1:] if argv is None else argv
    begin(words)
    for_programs = "--json" in words  # which read one language
    speak(LANGUAGES[0] if for_programs else language(words))
    args = command_parser(words).parse_args(words)
    speak(LANGUAGES[0] if for_programs else args.spoken)
    try:
        code = _module(args.command).run(args)
        print(end="", flush=True)
        return code
    except ParamsError as error:
        print_error(str(error))
        return BAD_INPUT
    except ModuleNotFoundError as error:
        print_error(missing_extra(args.command, error))
        return BAD_INPUT
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except OSError as error:  # a full disk under the output
        print(spoken(say("no-output", why=str(error.strerror).lower())), file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered goes nowhere
        return BAD_INPUT


def missing_extra(command: str, error: ModuleNotFoundError) -> str:
    """Which extra a command needs; what belongs to none is raised again."""
    library = str(error.name).partition(".")[0]
    for extra, libraries in EXTRAS.items():
        if library in libraries:
            wheel = f"will_it_fit-{calc.__version__}-py3-none-any.whl[{extra}]"
            return spoken(say("lacks", command=command, library=library, wheel=wheel))
    raise error


def _terminated(number: int, _: Any) -> None:
    raise SystemExit(128 + number)  # as a shell tells of a signal
