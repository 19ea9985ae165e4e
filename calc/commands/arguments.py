"""How arguments are read and explained, in either language; which there are, each command says."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, get_args

from rich.cells import cell_len

from calc.commands.printing import BAD_INPUT, print_error, speaks_chinese, spoken
from catalogue import ParamsError, Scenario
from catalogue.deployments.admission import length_words, positions, too_long
from catalogue.entries.models import Model
from catalogue.messages import LANGUAGES, Pair, messages
from catalogue.reading.files import is_file, read_small
from catalogue.reading.units import parse

common = messages("common")
say = messages("calc/commands/arguments")

# a run of Latin signs, or a Chinese one with the marks that may not begin a line
UNBROKEN = re.compile(r"[\x21-\x7e]+[，。；：、）]*|[^\x21-\x7e\s][，。；：、）]*|\s+")


def refuse_too_long(where: str, model: Model, longest: float | None) -> None:
    """Raise ParamsError, one sentence, for requests longer than the positions of the model.

    Args:
        where: file and line, or an identifier.
        model: of a deployment or a goal.
        longest: tokens of the longest request [token]; None where nothing states them.
    """
    if longest is not None and too_long(longest, positions(model)):
        en, zh = length_words(longest, model)
        raise ParamsError(f"{where}: {spoken((f'{en}.', f'{zh}。'))}")


def quantity(option: str, text: str, unit: str) -> float:
    """Parse an option's quantity [the SI unit of ``unit``].

    Raises ParamsError, one sentence, for what is none, or of another unit.
    """
    try:
        return parse(text, unit)
    except ValueError as error:
        raise ParamsError(spoken(common("problem", option=option, why=str(error)))) from None


class _Formatter(argparse.HelpFormatter):
    """Help whose Chinese is broken by the cells that it takes."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        if not speaks_chinese():
            return super()._split_lines(text, width)
        lines = [""]
        for part in UNBROKEN.findall(text):
            if cell_len(lines[-1] + part.rstrip()) > width and lines[-1]:
                lines[-1] = lines[-1].rstrip()
                lines.append("")
            lines[-1] += part if lines[-1] else part.lstrip()
        return lines

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if not speaks_chinese():
            return super()._fill_text(text, width, indent)
        return "\n".join(indent + line for line in self._split_lines(text, width))


class Parser(argparse.ArgumentParser):
    """Argument errors in one sentence, exit code 2."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**({"formatter_class": _Formatter} | given))

    def error(self, message: str) -> Any:
        """Print one sentence and exit with code 2."""
        print_error(spoken(say("error", program=self.prog, message=message)))
        self.exit(BAD_INPUT)


def language(argv: Sequence[str]) -> str:
    """The language that is asked for, else that of the environment, of those that are spoken."""
    for option, value in zip(argv, [*argv[1:], ""], strict=False):
        name, _, beside = option.partition("=")
        if name == "--lang" and (beside or value) in LANGUAGES:
            return beside or value
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if locale.startswith("zh") else "en"


def add_scenario(command: argparse.ArgumentParser) -> None:
    """The deployment that a command is of."""
    command.add_argument("scenario", help=spoken(say("scenario")))


def add_settings(command: argparse.ArgumentParser, meaning: Pair | None = None,
                 metavar: str = "PATH=VALUE") -> None:
    """``--set``, any number of times."""
    command.add_argument("--set", action="append", default=[], metavar=metavar, dest="settings",
                         help=spoken(meaning or say("set")))


def argparse_text(text: str) -> str:
    """What argparse says in English, in the language of the answer."""
    if not speaks_chinese():
        return text
    words = dict([
        say("usage"), say("positional"), say("options"), say("help"), say("argument"),
        say("unrecognized"), say("not-allowed-with"), say("ignored"), say("required"),
        say("one-required"), say("one-expected"), say("at-most-one"), say("at-least-one"),
        say("ambiguous"), say("invalid-value"), say("invalid-choice")])
    return words.get(text, text)


vars(argparse)["_"] = argparse_text  # by which it asks for its words


def add_lengths(command: argparse.ArgumentParser) -> None:
    """What says how long requests are; :func:`lengths_of` reads it."""
    command.add_argument("--lengths", metavar="DISTRIBUTION|FILE",
                         help=spoken(say("help-lengths")))
    command.add_argument("--variation", help=spoken(say("help-variation")))


def lengths_of(args: argparse.Namespace) -> tuple[list[tuple[int, int]], list[str]]:
    """Lengths from a file if one is given, and what the arguments set of the workload.

    Raises ParamsError, one sentence with file and line, for a file that lists no requests.
    """
    settings = [f"workload.length_variation={args.variation}"] if args.variation else []
    if args.lengths is None:
        return [], settings
    from calc.serving.requests import Distribution  # few commands need it

    if args.lengths in get_args(Distribution):
        return [], [f"workload.length_distribution={args.lengths}", *settings]
    near = get_close_matches(args.lengths, get_args(Distribution), n=1)
    if near and not is_file(Path(args.lengths)):
        raise ParamsError(spoken(say("no-such", text=args.lengths, near=near[0])))
    lengths = read_lengths(Path(args.lengths))
    means = (sum(column) / len(lengths) for column in zip(*lengths, strict=True))
    prompt, answer = (max(1, round(mean)) for mean in means)
    longest = max(prompt + answer, *map(sum, lengths))
    return lengths, [*settings, f"workload.input_tokens={prompt} token",
                     f"workload.output_tokens={answer} token",
                     f"workload.context_tokens={longest} token"]


def listed(scenario: Scenario, lengths: Sequence[tuple[int, int]]) -> Scenario:
    """The deployment with requests whose lengths vary as those listed do; as it is without any."""
    if not lengths:
        return scenario
    prompt, answer = (pstdev(column) / fmean(column) for column in zip(*lengths, strict=True))
    return replace(scenario, variations=(prompt, answer))


def read_lengths(path: Path) -> list[tuple[int, int]]:
    """Lengths of requests from a CSV file: input and output tokens of one per line [token].

    Raises ParamsError, one sentence with file and line, for a line that is no request.
    """
    text = read_small(path, str(path), "a file of lengths, or constant, exponential or lognormal")
    lengths: list[tuple[int, int]] = []
    for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
        cells = [cell.strip() for cell in line.split(",")]
        if not line.strip() or (number == 1 and cells == ["input_tokens", "output_tokens"]):
            continue
        if len(cells) != 2 or not all(cell.isascii() and cell.isdecimal() and len(cell) < 10
                                      and int(cell) for cell in cells):
            raise ParamsError(spoken(say("no-request", path=str(path), line=number,
                                         text=line.strip()[:60])))
        lengths.append((int(cells[0]), int(cells[1])))
    if not lengths:
        raise ParamsError(spoken(say("no-requests", path=str(path))))
    return lengths
