"""Servers that fail and are mended one by one, against which the closed form is held."""

from __future__ import annotations

import heapq

import numpy as np

from calc.capacity.availability import Fleet


def simulated_share(fleet: Fleet, years: float, seed: int = 0) -> float:
    """:attr:`Fleet.share`, failure by failure [1].

    Args:
        fleet: what serves and what stands by.
        years: so many times the mean time between failures of a server [1].
        seed: of the random numbers.
    """
    draw, end = np.random.default_rng(seed), years * fleet.between_failures
    servers, size = fleet.groups * fleet.servers + fleet.spares, fleet.servers
    events = [(float(draw.exponential(fleet.between_failures)), number)
              for number in range(servers)]
    heapq.heapify(events)
    place: list[set[int]] = [set(range(group * size, (group + 1) * size))
                             for group in range(fleet.groups)]
    free = set(range(fleet.groups * size, servers))
    ready, served, broken = [0.0] * fleet.groups, 0.0, set[int]()
    since = [0.0] * fleet.groups
    while events[0][0] < end:
        now, server = heapq.heappop(events)
        if server in broken:
            broken.remove(server)
            free.add(server)
            heapq.heappush(events, (now + draw.exponential(fleet.between_failures), server))
        else:
            broken.add(server)
            heapq.heappush(events, (now + draw.exponential(fleet.repair), server))
            for group, members in enumerate(place):
                if server in members:
                    served += _served(since[group], ready[group], now)
                    free |= members - {server}
                    place[group] = set()
            free.discard(server)
        for group, members in enumerate(place):
            if not members and len(free) >= size:
                place[group] = {free.pop() for _ in range(size)}
                since[group], ready[group] = now, now + fleet.restart
    served += sum(_served(since[group], ready[group], end)
                  for group, members in enumerate(place) if members)
    return served / end / fleet.groups


def _served(since: float, ready: float, until: float) -> float:
    """Time in which a group that began at one moment and was ready at another served [s]."""
    return max(0.0, until - max(since, ready))
