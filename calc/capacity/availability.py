"""Servers that fail and are mended: how much of a deployment works, and how many must stand by.

A server is up or being mended, each for a time with no memory, independently of the others; what
stands by is powered and fails like the rest, and any server may take the place of any other. A
group of servers that step together loses all of them when one fails, and comes back with weights
read again: at once if another server stands by, else when one is mended.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np

from catalogue import load, names
from catalogue.entries.operation import Failures
from catalogue.reading.values import Value

USUAL = "any-card"  # what is taken of a card that no file of failures names
MOST_SPARES = 4096  # that are tried for a promised level


def available(between_failures: float, repair: float) -> float:
    """Share of the time in which a server is up [1].

    a = F / (F + R).

    >>> available(99.0, 1.0)
    0.99

    Args:
        between_failures: mean time from being mended to the next failure, F [s].
        repair: mean time until it is mended, R [s].

    Source: notebooks/scale.md, section Servers that fail.
    """
    return between_failures / (between_failures + repair)


def counts(servers: int, up: float) -> np.ndarray:
    """Probability that 0, 1, … of so many servers are up, shape (servers + 1,) [1].

    >>> counts(2, 0.5).round(9).tolist()
    [0.25, 0.5, 0.25]

    Args:
        servers: all of them [1].
        up: probability that one is [1].

    Source: notebooks/scale.md, section Servers that fail.
    """
    if up >= 1:
        return np.append(np.zeros(servers), 1.0)
    k = np.arange(servers + 1)
    logs = np.array([math.lgamma(servers + 1) - math.lgamma(i + 1) - math.lgamma(servers - i + 1)
                     for i in k.tolist()])
    return np.asarray(np.exp(logs + k * math.log(up) + (servers - k) * math.log1p(-up)))


def at_least(needed: int, servers: int, up: float) -> float:
    """Probability that at least so many of the servers are up: k of n [1].

    >>> round(at_least(2, 3, 0.9), 3)
    0.972

    Args:
        needed: k [1].
        servers: n [1].
        up: probability that one is [1].
    """
    return float(min(1.0, counts(servers, up)[max(0, needed):].sum()))


@dataclass(frozen=True)
class Fleet:
    """Groups of servers that each serve as one, and servers that stand by.

    Attributes:
        groups: that serve if nothing is broken [1].
        servers: of a group [1].
        spares: servers that stand by [1].
        between_failures: of a server [s].
        repair: of a server [s].
        restart: from a failure to the next answer, if a server stands by [s].

    >>> narrow = Fleet(8, 1, 0, 1000.0, 10.0, 1.0)
    >>> wide = Fleet(1, 8, 0, 1000.0, 10.0, 1.0)
    >>> narrow.share > wide.share
    True
    """

    groups: int
    servers: int
    spares: int
    between_failures: float
    repair: float
    restart: float

    @property
    def complete(self) -> np.ndarray:
        """Probability that 0, 1, … groups have all their servers, shape (groups + 1,) [1]."""
        servers = self.groups * self.servers + self.spares
        up = counts(servers, available(self.between_failures, self.repair))
        complete = np.minimum(self.groups, np.arange(len(up)) // self.servers)
        return np.bincount(complete, up, self.groups + 1)

    @property
    def restarting(self) -> float:
        """Share of the time of a complete group in which it starts again [1].

        1 - exp(-m T / F): it serves if none of its m servers has failed for T, the time to start.

        Source: notebooks/scale.md, section Servers that fail.
        """
        return -math.expm1(-self.servers * self.restart / self.between_failures)

    @property
    def share(self) -> float:
        """Share of the throughput of all groups that is there, on average [1]."""
        expected = float(self.complete @ np.arange(self.groups + 1)) / self.groups
        return expected * (1 - self.restarting)

    def promised(self, groups: int) -> float:
        """Share of the time in which at least so many groups serve [1].

        A complete group starts again on its own, so that those of the complete ones that serve are
        k of n again.
        """
        serve = 1 - self.restarting
        return float(min(1.0, sum(
            probability * at_least(groups, number, serve)
            for number, probability in enumerate(self.complete.tolist()) if number >= groups)))


def failures_of(device: str) -> Failures:
    """Failures of servers of a card, or what is assumed of any.

    >>> failures_of("nvidia-h20").id, failures_of("ascend-910b2").id
    ('nvidia-hopper', 'any-card')
    """
    entries: list[Failures] = [load("failures", name) for name in names("failures")]
    return next((entry for entry in entries if device in entry.devices), load("failures", USUAL))


def fleet_of(replicas: int, devices: int, per_server: int, failures: Failures, loading: float,
             spares: int = 0, case: str = "central") -> Fleet:
    """The servers of equal replicas.

    A replica of several servers loses them together; several replicas of one server fail together.
    Servers with more or fewer cards than those that were counted fail in proportion.

    Args:
        replicas: of the deployment [1].
        devices: cards of one [1].
        per_server: cards of a server [1].
        failures: of servers of this card.
        loading: to read the weights again [s].
        spares: servers that stand by [1].
        case: ``central``, or all three inputs at the end that is worse (``low``) or better
            (``high``).
    """
    def at(value: Value, better: str) -> float:
        return float(value.value if case == "central" else
                     value.high if case == better else value.low)

    here = max(1, per_server // devices)
    return Fleet(-(-replicas // here), -(-devices // per_server), spares,
                 at(failures.between_failures, "high") * failures.cards / per_server,
                 at(failures.repair, "low"), loading + at(failures.start, "low"))


def spares_for(level: float, fleet: Fleet, groups: int | None = None) -> int | None:
    """Fewest servers that stand by, so that a promise is kept; None if no number of them does.

    What restarts take, spares do not give back: a level above that is out of reach.

    >>> spares_for(0.9999, Fleet(4, 1, 0, 1000.0, 10.0, 0.0))
    2

    Args:
        level: share of the time in which the promise is kept [1].
        fleet: what serves; its own spares do not count.
        groups: that are promised, all of them unless told otherwise [1].
    """
    promised = fleet.groups if groups is None else groups
    serve = 1 - fleet.restarting
    if at_least(promised, fleet.groups, serve) < level:
        return None
    spares = bisect_left(range(MOST_SPARES + 1), level, key=lambda number: replace(
        fleet, spares=number).promised(promised))
    return spares if spares <= MOST_SPARES else None
