"""A deployment whole, of one pool or of two: whether it runs, and what its users see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from calc.answer.estimate import Estimate, estimate, predicted
from calc.answer.steady_state import SEEN_OF_BURST, SEEN_STEADILY
from calc.answer.two_pools import Pools, combine_pools
from calc.evidence.classes import REPORTED, axis_label, inside_words, near, outside_words
from calc.evidence.nearness import both
from calc.layouts.change import changed
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.messages import Pair, join
from catalogue.reading.values import Text


@dataclass(frozen=True)
class Seen:
    """Latency and throughput of a deployment as its users measure them, with 80% intervals.

    Attributes:
        ttft, tpot, e2e: from a request's arrival on [s].
        throughput: of output tokens [token/s].
        in_flight: requests, in all pools [request].
        burst: whether all requests arrive at once, as the deployment states; else it is a steady
            state.
    """

    ttft: Amount
    tpot: Amount
    e2e: Amount
    throughput: Amount
    in_flight: float
    burst: bool

    @property
    def amounts(self) -> dict[str, Amount]:
        """Each by its name."""
        return {name: getattr(self, name) for name in SEEN_OF_BURST}

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return {name: replace(amount, own_error=None).as_json()
                for name, amount in self.amounts.items()} | {
            "in_flight": self.in_flight, "burst": self.burst}


@dataclass(frozen=True)
class Whole:
    """A deployment with the answer of each of its pools.

    Attributes:
        pools: one, or those that prefill and that decode.
        answers: of each.
        pair: of two pools what they give together; None of one.
    """

    pools: tuple[Scenario, ...]
    answers: tuple[Estimate, ...]
    pair: Pools | None

    @property
    def last(self) -> Scenario:
        """The pool that states the load: the only one, or the one that decodes."""
        return self.pools[-1]

    @property
    def devices(self) -> int:
        """Cards of all pools [1]."""
        return sum(pool.devices for pool in self.pools)

    @property
    def fits(self) -> bool:
        """Whether every pool fits in memory and its engine starts it with the given settings."""
        return all(answer.fits for answer in self.answers)

    @property
    def seen(self) -> Seen | None:
        """Latency and throughput as users measure them; None where answer lengths are not stated,
        or where requests arrive faster than they are served."""
        if self.pair is None:
            return seen_of(self.answers[0])
        return seen_of_pools(self.pools[0], self.last, self.pair)


def whole_id(pools: Sequence[Scenario]) -> str:
    """Identifier of a deployment: its file's, of two pools without their names."""
    return pools[-1].id if len(pools) == 1 else pools[-1].path.stem


def whole_title(pools: Sequence[Scenario]) -> Text:
    """Title of a deployment in both languages, of two pools that of both."""
    return (pools[-1].family if len(pools) > 1 else None) or pools[-1].heading


def whole(pools: Sequence[Scenario], answers: Sequence[Estimate] | None = None) -> Whole:
    """A deployment of one pool or two.

    >>> import catalogue
    >>> deployed = whole(catalogue.load_deployment("a3-v4-vllm"))
    >>> len(deployed.pools), deployed.devices
    (2, 32)

    Args:
        pools: as ``catalogue.load_deployment`` has them.
        answers: of each, where they are known.
    """
    found = tuple(answers) if answers is not None else tuple(map(estimate, pools))
    return Whole(tuple(pools), found, combine_pools(*pools) if len(pools) > 1 else None)


def seen_of(answer: Estimate) -> Seen | None:
    """What users see of a deployment of one pool, of a pool alone a burst; None as
    :attr:`Whole.seen` says.

    Args:
        answer: what is estimated of it.
    """
    lasting = answer.lasting
    if lasting is None or not lasting.keeps_up:
        return None
    found = {name: answer.quantities[symbol] for name, symbol in (
        SEEN_OF_BURST if answer.burst else SEEN_STEADILY).items()}
    return Seen(**found,
                in_flight=answer.in_flight if answer.burst else lasting.in_flight,
                burst=answer.burst)


def seen_of_pools(prefill: Scenario, decode: Scenario, pair: Pools | None = None) -> Seen | None:
    """What users measure of two pools, each time with the relative interval of the pool that it is
    spent in; None where requests arrive faster than they are served.

    Args:
        prefill, decode: the pools.
        pair: ``combine_pools`` of them, where it is at hand.
    """
    pair = pair or combine_pools(prefill, decode)
    loop = pair.loop
    if not loop.keeps_up:
        return None
    alone = predicted(unloaded(prefill), ("ttft", "request_throughput"))
    decoded = predicted(decode, ("tpot", "output_throughput"))
    rate = (alone["request_throughput"] if pair.binds == "prefill"
            else decoded["output_throughput"])
    ttft, tpot = around(loop.ttft, alone["ttft"]), around(loop.tpot, decoded["tpot"])
    low, high = (first + (pair.answer - 1) * each
                 for first, each in zip(ttft.ends, tpot.ends, strict=True))
    return Seen(ttft, tpot, replace(ttft, value=loop.e2e, low=low, high=high),
                around(loop.rate * pair.answer, rate, "token/s"), loop.in_flight, False)


def unloaded(prefill: Scenario) -> Scenario:
    """A pool that prefills with one prompt on each replica, none of which waits."""
    return changed(prefill, {"workload.concurrency": prefill.replicas})


def around(value: float, of: Amount, unit: str | None = None) -> Amount:
    """An amount as far about its value as another is about its own."""
    return of.scaled(value / of.value, unit)


def evidence_of(pools: Sequence[Scenario], answers: Sequence[Estimate]) -> Pair | None:
    """Measured runs that say how sure TPOT, TTFT and throughput of a deployment are, in sentences;
    None where none of these has an error of the formulas' own.

    Args:
        pools, answers: one of each, or those of two pools, which answer different quantities.
    """
    own = {name: amount.own_error for answer in answers for name, amount in answer.reported.items()
           if name in REPORTED and amount.own_error}
    outside = reduce(both, map(near, pools)).outside
    axes = [outside_words(axis_label(axis.name) for axis in outside)] if outside else []
    return join((" ", ""), [inside_words(own), *axes]) if own else None
