"""How long a request may be: as long as is asked for, or as the model and the cache allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from calc.answer.simulated import (
    USUAL_LENGTHS,
    lengths_of,
    longest_served,
    stated_longest,
)
from calc.uncertainty import Amount
from catalogue import ParamsError, Scenario
from catalogue.deployments.admission import positions
from catalogue.messages import Pair, messages

say = messages("calc/launching/lengths")

NOTABLE = 0.01  # share of the requests from which on it is told that they are refused


@dataclass(frozen=True)
class Longest:
    """The longest request that a server takes.

    Attributes:
        tokens: of prompt and answer together [token].
        rule: what it follows from: ``stated``, the ``positions`` of the model, the ``longest``
            prompt and answer of the demand, or the ``cache`` at the lower end of its interval.
        refused: share of the requests that are longer, refused or cut off by the engine [1].
    """

    tokens: int
    rule: Literal["stated", "positions", "longest", "cache"]
    refused: float

    @property
    def words(self) -> Pair:
        """What it follows from, one clause."""
        return say("rule", rule=self.rule)

    @property
    def why(self) -> str:
        """The clause in English, as scripts have it."""
        return self.words[0]


def longest(scenario: Scenario, blocks: Amount, state: float = 0,
            size: float | None = None) -> Longest:
    """What a server is told of the longest request.

    A limit costs nothing by itself; an engine only refuses to start where its cache does not hold
    one request of that length. So it is what the workload states; else the model's own positions or
    what the cache holds at the lower end of its interval, but no less than the longest prompt and
    answer of the demand, if the cache holds these.

    >>> import calc, catalogue
    >>> plan = catalogue.load_scenario("h200-r1-vllm-tp8")
    >>> longest(plan, calc.estimate(plan).quantities["kv_blocks"]).tokens
    163840

    Args:
        scenario: the deployment, or the pool.
        blocks: of the cache of a replica, with the interval.
        state: blocks that a request takes whatever its length [block].
        size: tokens of a block; None for those that the workload states [token/block].

    Raises ParamsError, one sentence, for a request that the cache of a replica does not hold.
    """
    numbers, asked = scenario.inputs(), stated_longest(scenario)
    mean = int(numbers["input_tokens"] + numbers["output_tokens"])
    together = int((size or numbers["block_size"]) * numbers["decode_context_parallel"])
    room, surely = (max(0, int(number - state)) * together
                    for number in (blocks.value, blocks.low))
    needed = mean if asked is None else max(asked, mean)
    if needed > room:
        raise ParamsError(f"'{scenario.id}': a request of {needed:,} tokens, and the cache of a "
                          f"replica holds {room:,}: no engine starts so, expected a "
                          f"context_tokens of at most {room:,}, or more memory for the cache.")
    if asked is not None:
        return Longest(asked, "stated", _beyond(scenario, asked))
    most, served = positions(scenario.model), longest_served(scenario)
    least = served if served <= room else mean
    found = int(max(least, min(most, surely)))
    return Longest(found, "positions" if found == most else "longest" if found == least
                   else "cache", _beyond(scenario, found))


def longer_words(scenario: Scenario) -> Pair | None:
    """Return which share of the requests is longer than the positions of the model.

    Returns None where none or few are, and where the workload states the longest request.
    """
    workload, most = scenario.file.workload, positions(scenario.model)
    if workload.context_tokens or not (workload.input_tokens and workload.output_tokens):
        return None
    share = _beyond(scenario, most)
    if share < NOTABLE:
        return None
    return say("longer-than-positions", share=f"{share:.0%}", most=f"{most:,.0f}",
               of=scenario.model.id, stated=lengths_of(scenario).stated, usual=USUAL_LENGTHS)


def _beyond(scenario: Scenario, tokens: float) -> float:
    """Return the share of the requests that are longer [1]."""
    shapes = lengths_of(scenario).shapes(scenario.inputs())
    return sum(prompt + answer > tokens for prompt, answer, *_ in shapes) / len(shapes)
