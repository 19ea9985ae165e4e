"""What a short run leaves out, in which order files run, and how long each test took.

``--short`` runs a tenth of every series: of a test with more than ``SERIES`` cases those that the
hash of file and case picks, the same in every run, others under ``EXPLORE``; the tests of a file
have the same cases, so that what they share is computed once. Of a
test that is marked ``one`` a single case stands for all. What needs minutes by nature is marked
``slow``, or looks at the whole book (the fixture ``site``): a full run has it. ``whole`` keeps a
series as it is.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping

import pytest

SERIES = 20  # cases, above which a tenth stands for all
SHARE = 10
RECORD = "seconds"  # in pytest's cache: test -> seconds of processor that it took
LIKELY = 0.02  # seconds of a test that no run has recorded


def seed() -> str:
    """What the hash of a name begins with: the same for all processes of a run."""
    if "EXPLORE" not in os.environ:
        return ""
    return os.environ.get("PYTEST_XDIST_TESTRUNUID", os.environ["EXPLORE"])


def drawn(cases: Iterable[str], beginning: str = "", one: bool = False) -> set[str]:
    """Of the cases of a test those that a short run keeps: all of a few, a tenth of a series."""
    def place(case: str) -> bytes:
        file, (_, _, parameters) = case.partition("::")[0], case.partition("[")
        return hashlib.sha256(f"{beginning}{file}[{parameters}".encode()).digest()

    by_hash = sorted(cases, key=place)
    if len(by_hash) > SERIES:
        by_hash = by_hash[:-(-len(by_hash) // SHARE)]
    return set(by_hash[:1] if one else by_hash)


def is_slow(item: pytest.Item) -> bool:
    """Whether a test is left to a full run whatever its series."""
    return item.get_closest_marker("slow") is not None or "site" in getattr(
        item, "fixturenames", ())


def short(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests of a short run, in their order."""
    items = [item for item in items if not is_slow(item)]
    series: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for item in items:
        one = item.get_closest_marker("one") is not None
        series[item.nodeid.partition("[")[0], one].append(item.nodeid)
    kept = set().union(*(drawn(cases, seed(), one) for (_, one), cases in series.items()),
                       (item.nodeid for item in items if item.get_closest_marker("whole")))
    return [item for item in items if item.nodeid in kept]


def within(items: Iterable[pytest.Item], seconds: float, recorded: Mapping[str, float]
           ) -> list[pytest.Item]:
    """As many tests as fit into a time: the shortest of all files, in the order that they had."""
    items = list(items)
    kept = set()
    for item in sorted(items, key=lambda item: recorded.get(item.nodeid, LIKELY)):
        seconds -= recorded.get(item.nodeid, LIKELY)
        if seconds >= 0:
            kept.add(item.nodeid)
    return [item for item in items if item.nodeid in kept]


def longest_first(items: Iterable[pytest.Item], recorded: Mapping[str, float]
                  ) -> list[pytest.Item]:
    """Tests by file, the longest file first: it would be waited for if it came last."""
    total: dict[object, float] = defaultdict(float)
    items = list(items)
    for item in items:
        total[item.path] += recorded.get(item.nodeid, LIKELY)
    return sorted(items, key=lambda item: -total[item.path])
