"""Lengths of requests: how they vary, and the longest that a server accepts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, get_args

from calc.physics.kv_cache import beside_tokens
from calc.serving.requests import Distribution, Shape, shapes_of
from calc.uncertainty import Amount
from catalogue import ParamsError, Scenario, load
from catalogue.deployments.admission import positions
from catalogue.messages import Pair, sentences
from catalogue.reading.files import read_small
from catalogue.reading.units import plain

say = sentences("calc/answer/request-lengths")

USUAL_LENGTHS = "azure-conversation"  # the service whose lengths stand for those of others
NOTABLE = 0.01  # least share of refused requests worth reporting
RULES = {"stated": "the longest request, as the workload states it",
         "positions": "the model's positions",
         "longest": "the longest prompt and answer of the demand",
         "cache": "all that the cache surely holds"}


@dataclass(frozen=True)
class Lengths:
    """How the lengths of requests vary about their means.

    Attributes:
        distribution: of both, prompts and answers.
        prompts, answers: standard deviation over mean [1].
        stated: whether the deployment says so; else they vary as those of public traffic do
            (``params/loads/``, ``USUAL_LENGTHS``).
    """

    distribution: Distribution
    prompts: float
    answers: float
    stated: bool

    def shapes(self, inputs: Mapping[str, float], longest: float = math.inf) -> tuple[Shape, ...]:
        """Shapes of requests about their means, each as likely as any other [token].

        Args:
            inputs: ``input_tokens``, ``output_tokens`` and ``prefix_hit_share``.
            longest: of prompt and answer together [token].
        """
        return shapes_of(inputs["input_tokens"], inputs["output_tokens"], self.distribution,
                         (self.prompts or 1.0, self.answers or 1.0), inputs["prefix_hit_share"],
                         longest)

    def words(self) -> str:
        """Describe how prompts and answers vary."""
        prompts, answers = plain(self.prompts), plain(self.answers)
        origin = "as stated" if self.stated else f"as in {USUAL_LENGTHS}; nothing is stated"
        return ("all equal" if self.distribution == "constant" else
                f"{self.distribution}, standard deviation over mean {prompts} of prompts and "
                f"{answers} of answers, {origin}")


def lengths_of(scenario: Scenario) -> Lengths:
    """How the lengths of a deployment's requests vary in a simulation.

    Args:
        scenario: the deployment; what its workload states holds.
    """
    workload = scenario.file.workload
    distribution = workload.length_distribution
    if distribution is None:
        usual = load("loads", USUAL_LENGTHS).lengths
        return Lengths("lognormal", float(usual.prompts.value), float(usual.answers.value), False)
    stated = workload.length_variation
    both = float(stated.value) if stated else float(distribution == "exponential")
    return Lengths(distribution, both, both, True)


def refuse_unstated(scenario: Scenario) -> None:
    """Raise ParamsError for a deployment that does not say how many tokens its requests have."""
    if scenario.file.workload.output_tokens is None:
        raise ParamsError(f"'{scenario.id}' says how long its requests are at most, not how long "
                          "they are, expected workload.input_tokens and workload.output_tokens.")


def stated_longest(scenario: Scenario) -> int | None:
    """Tokens of the longest request as the workload states it [token]; None where it does not."""
    workload, inputs = scenario.file.workload, scenario.inputs()
    stated = workload.context_tokens
    if stated is None or (workload.output_tokens is not None and (
            stated.value <= inputs["input_tokens"] + inputs["output_tokens"])):
        return None
    return int(stated.value)


def longest_served(scenario: Scenario) -> int:
    """Tokens of prompt and answer of the longest request that is not refused [token]: as the
    workload states it, else the longest of its lengths, at most the positions of the model.

    Args:
        scenario: the deployment, or the pool.
    """
    if (stated := stated_longest(scenario)) is not None:
        return stated
    inputs = scenario.inputs()
    most = max(prompt + answer for prompt, answer, *_ in lengths_of(scenario).shapes(inputs))
    return int(max(inputs["input_tokens"] + inputs["output_tokens"],
                   min(most, positions(scenario.model))))


@dataclass(frozen=True)
class Longest:
    """The longest request that a server takes.

    Attributes:
        tokens: of prompt and answer together [token].
        rule: what it follows from, one clause: the workload, the positions of the model, the
            longest prompt and answer of the demand, or the cache at the lower end of its interval.
        refused: share of the requests that are longer, refused or cut off by the engine [1].
    """

    tokens: int
    rule: Pair
    refused: float


def longest(scenario: Scenario, blocks: Amount, quantities: Mapping[str, Any]) -> Longest:
    """The longest request that a server is configured for.

    A limit costs nothing by itself; an engine only refuses to start where its cache does not hold
    one request of that length. So it is what the workload states; else the model's own positions or
    what the cache holds at the lower end of its interval, but no less than the longest prompt and
    answer of the demand, if the cache holds these.

    >>> import calc, catalogue
    >>> plan = catalogue.load_scenario("h200-r1-vllm-tp8")
    >>> answer = calc.estimate(plan)
    >>> longest(plan, answer.quantities["kv_blocks"], answer.everything).tokens
    163840

    Args:
        scenario: the deployment, or the pool.
        blocks: of the cache of a replica, with the interval.
        quantities: those of ``calc.evaluate`` for it, scalars.

    Raises ParamsError, one sentence, for a request that the cache of a replica does not hold.
    """
    numbers, stated = scenario.inputs(), stated_longest(scenario)
    mean = int(numbers["input_tokens"] + numbers["output_tokens"])
    together = int(quantities["block_tokens"] * numbers["decode_context_parallel"])
    room, surely = (max(0, int(number - beside_tokens(quantities))) * together
                    for number in (blocks.value, blocks.low))
    needed = mean if stated is None else max(stated, mean)
    if needed > room:
        raise ParamsError(f"'{scenario.id}': a request of {needed:,} tokens, and the cache of a "
                          f"replica holds {room:,}: no engine starts so, expected a "
                          f"context_tokens of at most {room:,}, or more memory for the cache.")
    most, served = positions(scenario.model), longest_served(scenario)
    least = served if served <= room else mean
    tokens = int(max(least, min(most, surely))) if stated is None else stated
    rule = ("stated" if stated is not None else "positions" if tokens == most
            else "longest" if tokens == least else "cache")
    return Longest(tokens, say("rule", RULES[rule], rule=rule), _beyond(scenario, tokens))


def longer_words(scenario: Scenario) -> str | None:
    """Return which share of the requests is longer than the positions of the model.

    Returns None where none or few are, and where the workload states the longest request.
    """
    workload, most = scenario.file.workload, positions(scenario.model)
    if workload.context_tokens or not (workload.input_tokens and workload.output_tokens):
        return None
    share = _beyond(scenario, most)
    if share < NOTABLE:
        return None
    stated, of = lengths_of(scenario).stated, scenario.model.id
    varied = "" if stated else f" (no lengths are stated: they vary as in {USUAL_LENGTHS})"
    return (f"{share:.0%} of the requests are longer than the {most:,.0f} positions of '{of}' and "
            f"are refused{varied}. Shorten input_tokens + output_tokens, or state context_tokens.")


def _beyond(scenario: Scenario, tokens: float) -> float:
    """Return the share of the requests that are longer [1]."""
    shapes = lengths_of(scenario).shapes(scenario.inputs())
    return sum(prompt + answer > tokens for prompt, answer, *_ in shapes) / len(shapes)


def listed_lengths(lengths: str | None, variation: str | None
                   ) -> tuple[list[tuple[int, int]], list[str]]:
    """Lengths of requests from a file, if one is given, and settings of the workload.

    Args:
        lengths: name of a distribution, or path of a file; None for that of the deployment.
        variation: standard deviation over mean of lognormal lengths.

    Raises ParamsError, one sentence with file and line, for a file that lists no requests.
    """
    settings = [f"workload.length_variation={variation}"] if variation else []
    if lengths is None:
        return [], settings
    if lengths in get_args(Distribution):
        return [], [f"workload.length_distribution={lengths}", *settings]
    if lengths.isidentifier() and not Path(lengths).exists():
        raise ParamsError(f"--lengths: there is no distribution or file '{lengths[:60]}', expected "
                          f"{', '.join(get_args(Distribution))} or a CSV file.")
    rows = read_lengths(Path(lengths))
    prompt, answer = (max(1, round(fmean(column))) for column in zip(*rows, strict=True))
    longest = max(prompt + answer, *map(sum, rows))
    return rows, [*settings, f"workload.input_tokens={prompt} token",
                  f"workload.output_tokens={answer} token",
                  f"workload.context_tokens={longest} token"]


def with_lengths(scenario: Scenario, lengths: Sequence[tuple[int, int]]) -> Scenario:
    """Give a deployment the variation of listed lengths; unchanged without any."""
    if not lengths:
        return scenario
    prompt, answer = (pstdev(column) / fmean(column) for column in zip(*lengths, strict=True))
    return replace(scenario, variations=(prompt, answer))


def read_lengths(path: Path) -> list[tuple[int, int]]:
    """Lengths of requests from a CSV file: input and output tokens of one per line [token].

    Raises ParamsError, one sentence with file and line, for a line that is no request.
    """
    text = read_small(path, "a file of lengths, or constant, exponential or lognormal")
    lengths: list[tuple[int, int]] = []
    for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
        cells = [cell.strip() for cell in line.split(",")]
        if not line.strip() or (number == 1 and cells == ["input_tokens", "output_tokens"]):
            continue
        if len(cells) != 2 or not all(cell.isascii() and cell.isdecimal() and len(cell) < 10
                                      and int(cell) for cell in cells):
            raise ParamsError(f"{path}:{number}: '{line.strip()[:60]}' is no request, expected "
                              "input and output tokens, whole numbers of at least 1.")
        lengths.append((int(cells[0]), int(cells[1])))
    if not lengths:
        raise ParamsError(f"{path}: there are no requests, expected input and output tokens on "
                          "each line.")
    return lengths
