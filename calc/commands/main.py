"""The command line: ``python -m calc COMMAND``, see ``--help``.

Commands: check, models, devices, links, nodes, scenarios, engines, estimate, simulate, validate,
calibrate, discrepancy, import-model.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from calc.commands import (
    calibrate,
    check,
    discrepancy,
    engines,
    estimate,
    import_model,
    listing,
    simulate,
    validate,
)
from calc.commands.printing import BAD_INPUT, OK
from catalogue import ParamsError

COMMANDS: dict[str, tuple[ModuleType, str]] = {
    "check": (check, "check every file of the catalogue, or those given"),
    **{kind: (listing, f"list the {kind}, or show one") for kind in listing.KINDS},
    "estimate": (estimate, "whether a deployment fits, its latency, throughput and what binds "
                           "them; what would fit"),
    "simulate": (simulate, "arrivals at a deployment, step by step: percentiles, goodput"),
    "validate": (validate, "errors of every prediction of a measured row"),
    "calibrate": (calibrate, "fit a calibration to its measured rows"),
    "discrepancy": (discrepancy, "the formulas' own error by class of systems, for intervals"),
    "import-model": (import_model,
                     "write a model file from the config.json of a Hugging Face model"),
    "engines": (engines, "which arguments, variables and metrics an engine has in which release"),
}


class _Parser(argparse.ArgumentParser):
    """Argument errors in one sentence, exit code 2."""

    def error(self, message: str) -> Any:
        """Print one sentence and exit with code 2."""
        self.exit(BAD_INPUT, f"{self.prog}: {message}.\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m calc", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    for name, (module, purpose) in COMMANDS.items():
        command = commands.add_parser(name, help=purpose)
        module.add_arguments(command)
        command.add_argument("--json", action="store_true", help="print JSON in SI units")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0, or 2 for input that cannot be used."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 gets question marks
    args = _parser().parse_args(argv)
    module, _ = COMMANDS[args.command]
    try:
        code = module.run(args)
        print(end="", flush=True)
        return code
    except ParamsError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except OSError as error:  # a full disk under the output
        print(f"the output cannot be written ({str(error.strerror).lower()}).", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered goes nowhere
        return BAD_INPUT
