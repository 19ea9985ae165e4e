"""The command line: ``python -m calc COMMAND``, see ``--help``.

Commands: check, models, devices, links, nodes, scenarios, engines, estimate, simulate, validate,
calibrate, import-model.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import calc
from calc.commands import engines, import_model, printing, simulate, validate
from catalogue import (
    ParamsError,
    deployment_names,
    load,
    load_family,
    load_scenario,
    names,
    sources,
)
from catalogue import symbols as load_symbols
from catalogue.engines.engine import documents, engine_names, engine_of, launch_blocks, load_engine
from catalogue.library import KINDS
from catalogue.reading.shared import glossary
from catalogue.reading.yamlfile import read

OK, BAD_INPUT = 0, 2


class _Parser(argparse.ArgumentParser):
    """Argument errors in one sentence, exit code 2."""

    def error(self, message: str) -> Any:
        """Print one sentence and exit with code 2."""
        self.exit(BAD_INPUT, f"{self.prog}: {message}.\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m calc", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    check = commands.add_parser("check", help="check every file of the catalogue, or those given")
    check.add_argument("files", nargs="*", metavar="FILE", help="params/KIND/NAME.yml or your own")
    for kind in ("models", "devices", "links", "nodes", "scenarios"):
        listing = commands.add_parser(kind, help=f"list the {kind}, or show one")
        listing.add_argument("name", nargs="?", help="identifier or path of a YAML file")
    one = commands.add_parser("estimate", help="whether a deployment fits, its latency, throughput "
                                               "and what binds them; what would fit")
    one.add_argument("scenario", help="identifier or path of a scenario file")
    one.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", dest="settings",
                     help="override, e.g. parallelism.tensor_parallel=16 or device=nvidia-h20")
    one.add_argument("--documented", action="store_true",
                     help="take of the device what the scenario's document states of it")
    one.add_argument("--calibration", metavar="NAME",
                     help="take what was fitted: an entry of params/calibrations/")
    simulate.add_arguments(commands.add_parser(
        "simulate", help="arrivals at a deployment, step by step: percentiles, goodput"))
    validate.add_validate(commands.add_parser(
        "validate", help="errors of every prediction of a measured row"))
    validate.add_calibrate(commands.add_parser(
        "calibrate", help="fit a calibration to its measured rows"))
    import_model.add_arguments(commands.add_parser(
        "import-model", help="write a model file from the config.json of a Hugging Face model"))
    engines.add_arguments(commands.add_parser(
        "engines", help="which arguments, variables and metrics an engine has in which release"))
    for command in commands.choices.values():
        command.add_argument("--json", action="store_true", help="print JSON in SI units")
    return parser


def _check(args: argparse.Namespace) -> int:
    """Validate files; report each problem, one sentence each."""
    problems: dict[str, None] = {}  # each once: a file that others need is at fault once
    checked = failed = 0

    def attempt(action: Callable[[], Any]) -> None:
        nonlocal checked, failed
        checked += 1
        try:
            action()
        except ParamsError as error:
            failed += 1
            problems[str(error)] = None

    if args.files:
        for file in args.files:
            attempt(partial(_check_file, file))
    else:
        for shared in (sources, load_symbols, glossary):
            attempt(shared)
        for name in engine_names():
            attempt(partial(load_engine, name))
        for name in documents():
            attempt(partial(launch_blocks, name))
        for kind in KINDS:
            for name in names(kind):
                attempt(partial(_check_entry, kind, name))
    if args.json:
        print(json.dumps({"checked": checked, "problems": list(problems)}, indent=2))
    else:
        for problem in problems:
            print(problem, file=sys.stderr)
        print(f"{checked} files checked, {failed} with a problem.")
    return BAD_INPUT if problems else OK


def _check_file(file: str) -> None:
    """Validate one file as the kind that its folder names, else as the kind its keys suggest."""
    checks: dict[str, Callable[[], Any]] = {
        "symbols.yml": load_symbols, "glossary.yml": glossary,
        "sources": lambda: (read(Path(file)), sources()),
        "engines": lambda: engine_of(read(Path(file))),
        "documents": lambda: launch_blocks(Path(file).stem)}
    kind = printing.kind_of(file)
    checks.get(kind, partial(_check_entry, kind, file))()


def _check_entry(kind: str, reference: str) -> None:
    load_family(reference) if kind == "scenarios" else load(kind, reference)


def _listing(args: argparse.Namespace) -> int:
    kind = args.command
    if args.name is None:
        entries = ([load_scenario(name).file for name in deployment_names()] if kind == "scenarios"
                   else [load(kind, name) for name in names(kind)])
        if args.json:
            _print_json({entry.id: printing.summary(kind, entry) for entry in entries})
        else:
            printing.print_list(kind, entries)
        return OK
    entry = load_scenario(args.name).file if kind == "scenarios" else load(kind, args.name)
    if args.json:
        _print_json(printing.details(kind, entry))
    else:
        printing.print_entry(kind, entry)
    return OK


def _estimate(args: argparse.Namespace) -> int:
    scenario = load_scenario(args.scenario, overrides=args.settings,
                             documented=args.documented)
    applied = None
    if args.calibration is not None:
        from calc.evidence.calibrated import apply  # SciPy is loaded only where something is fitted

        applied = apply(scenario, args.calibration)
    result = calc.estimate(scenario, applied)
    taken = printing.taken_from_document(scenario) if args.documented else {}
    if args.json:
        _print_json(result.as_json() | ({"taken_from_document": taken} if args.documented else {}))
    else:
        printing.print_estimate(scenario, result)
        for name, value in taken.items():
            print(f"taken from document {value['source']}, section {value['section']}: "
                  f"{name} {value['written']}")
    return OK


def _print_json(data: Any) -> None:
    print(json.dumps(data, indent=2, allow_nan=False))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0, or 2 for input that cannot be used."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 gets question marks
    args = _parser().parse_args(argv)
    run = {"check": _check, "estimate": _estimate, "engines": engines.run_engines,
           "simulate": simulate.run_simulate, "validate": validate.run_validate,
           "calibrate": validate.run_calibrate,
           "import-model": import_model.run_import}.get(args.command, _listing)
    try:
        code = run(args)
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
