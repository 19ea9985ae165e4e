"""How long a request may be: as long as is asked for, or as the model and the cache allow."""

from __future__ import annotations

from dataclasses import dataclass

from calc.answer.simulated import USUAL_LENGTHS, lengths_of
from calc.uncertainty.amount import Amount
from catalogue import ParamsError, Scenario
from catalogue.deployments.admission.rules import positions
from catalogue.messages import Pair, messages

say = messages("calc/launching/lengths")

NOTABLE = 0.01  # share of the requests from which on it is told that they are refused


@dataclass(frozen=True)
class Longest:
    """The longest request that a server takes.

    Attributes:
        tokens: of prompt and answer together [token].
        why: what it follows from, one clause.
        refused: share of the requests that are longer, refused or cut off by the engine [1].
    """

    tokens: int
    why: str
    refused: float


def longest(scenario: Scenario, blocks: Amount, state: float = 0,
            size: float | None = None) -> Longest:
    """What a server is told of the longest request.

    A limit costs nothing by itself; an engine only refuses to start where its cache does not hold
    one request of that length. So it is what the workload states, else the model's own positions,
    or what is left of the cache at the lower end of its interval.

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
    numbers, workload = scenario.inputs(), scenario.file.workload
    mean = int(numbers["input_tokens"] + numbers["output_tokens"])
    together = int((size or numbers["block_size"]) * numbers["decode_context_parallel"])
    room, surely = (max(0, int(number - state)) * together
                    for number in (blocks.value, blocks.low))
    stated = workload.context_tokens
    asked = int(stated.value) if stated is not None and (
        workload.output_tokens is None or stated.value > mean) else None
    needed = mean if asked is None else max(asked, mean)
    if needed > room:
        raise ParamsError(f"'{scenario.id}': a request of {needed:,} tokens, and the cache of a "
                          f"replica holds {room:,}: no engine starts so, expected a "
                          f"context_tokens of at most {room:,}, or more memory for the cache.")
    if asked is not None:
        return Longest(asked, "the longest request, as the workload states it",
                       _beyond(scenario, asked))
    most = positions(scenario.model)
    found = int(max(mean, min(most, surely)))
    why = ("positions of the model; the workload sets no maximum length" if found == most
           else "one request in a cache at the lower end of its interval; the workload sets no "
                "maximum length")
    return Longest(found, why, _beyond(scenario, found))


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
