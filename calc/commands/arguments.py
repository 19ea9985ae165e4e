"""How arguments are read and explained, in either language; which there are, each command says."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len

from calc.commands.printing import BAD_INPUT, print_error, speaks_chinese, spoken
from catalogue import ParamsError
from catalogue.deployments.admission import length_words, positions, too_long
from catalogue.entries.models import Model
from catalogue.messages import LANGUAGES, Pair, messages
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


def _words() -> dict[str, str]:
    """What argparse says, by what it says in English."""
    return dict([
        say("usage"), say("positional"), say("options"), say("help"), say("argument"),
        say("unrecognized"), say("not-allowed-with"), say("ignored"), say("required"),
        say("one-required"), say("one-expected"), say("at-most-one"), say("at-least-one"),
        say("ambiguous"), say("invalid-value"), say("invalid-choice")])


def _translated(text: str) -> str:
    return _words().get(text, text) if speaks_chinese() else text


vars(argparse)["_"] = _translated  # by which it asks for its words
