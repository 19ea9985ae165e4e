"""What a command is told of the lengths of requests: a distribution, or a file that lists them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, get_args

from calc.commands.printing import spoken
from catalogue import ParamsError, Scenario
from catalogue.messages import Pair, messages
from catalogue.reading.amounts import plain
from catalogue.reading.files import is_file, read_small

if TYPE_CHECKING:
    from calc.answer.request_lengths import Lengths

say = messages("calc/commands/lengths")


def add_lengths(command: argparse.ArgumentParser) -> None:
    """What says how long requests are; :func:`lengths_of` reads it."""
    command.add_argument("--lengths", metavar="DISTRIBUTION|FILE",
                         help=spoken(say("help-lengths")))
    command.add_argument("--variation", help=spoken(say("help-variation")))


def length_words(lengths: Lengths) -> Pair:
    """How lengths vary, in words."""
    from calc.answer.request_lengths import USUAL_LENGTHS  # known where something was simulated

    if lengths.distribution == "constant":
        return say("all-equal")
    return say("lengths-vary", distribution=lengths.distribution, stated=lengths.stated,
               prompts=plain(lengths.prompts), answers=plain(lengths.answers),
               usual=USUAL_LENGTHS)


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
