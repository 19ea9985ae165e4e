"""Blocks of one cache that several requests begin with: shared, kept, evicted.

Whole blocks only. A block is counted by the requests in work that have it; one that nobody has any
more stays until its space is needed, and of those the least recently used goes first, of one
request its end before its beginning. So what is left of a text is always its beginning, and a
request that has a block has all those before it.

What is evicted is lost: a cache in host memory (``workload.host_cache``) is not simulated block by
block. Where hits are stated or follow from the closed form, a simulation delays each request by the
mean time that its load is waited for (``calc.answer.simulated.System.overhead``).

Source: automatic prefix caching, https://github.com/vllm-project/vllm,
vllm/v1/core/kv_cache_manager.py (``get_computed_blocks``, ``allocate_slots``, ``free``) and
vllm/v1/core/block_pool.py (``get_new_blocks``, ``touch``, ``free_blocks``). There empty blocks
queue with the kept ones; here they are taken first. There two requests may compute the same block,
and both copies stay; here it becomes one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator

Span = tuple[Hashable, int, int]
"""A text, and which blocks of a request are its own: from the first to before the second."""


class _Text:
    """What is left of a text, by block: how many in work have it; never more than the one before.

    ``held`` blocks somebody has, the others nobody.
    """

    __slots__ = ("held", "key", "users")

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.users: list[int] = []
        self.held = 0


class PrefixCache:
    """Which whole blocks of which texts are in the cache, and who has them."""

    def __init__(self) -> None:
        self._texts: dict[Hashable, _Text] = {}
        self._idle: OrderedDict[tuple[_Text, int], None] = OrderedDict()

    @property
    def idle(self) -> int:
        """Blocks that are kept though nobody in work has them [block]."""
        return len(self._idle)

    @property
    def in_use(self) -> int:
        """Blocks that somebody in work has, each counted once [block]."""
        return sum(text.held for text in self._texts.values())

    def find(self, spans: tuple[Span, ...], most: int) -> tuple[int, int]:
        """Blocks that a request finds at its beginning, and how many of these others have [block].

        Args:
            spans: its texts.
            most: that it may use [block].
        """
        found = shared = 0
        for name, begin, end in spans:
            end = min(end, most)
            if begin >= end:
                continue
            text = self._texts.get((name, begin))
            if text is None:
                break
            here = min(len(text.users), end - begin)
            found += here
            shared += min(here, text.held)
            if here < end - begin:
                break
        return found, shared

    def hold(self, spans: tuple[Span, ...], begin: int, end: int) -> int:
        """A request gets its blocks from ``begin`` to before ``end``, those found and those filled.

        Returns how many of them others have already, so that no space of its own is needed.
        """
        shared = 0
        for text, first, last in self._parts(spans, begin, end):
            users = text.users
            for block in range(first, last):
                if block == len(users):
                    users.append(0)
                elif users[block]:
                    shared += 1
                else:
                    del self._idle[text, block]
                users[block] += 1
            text.held = max(text.held, last)
        return shared

    def drop(self, spans: tuple[Span, ...], end: int) -> int:
        """A request leaves its blocks before ``end``; returns how many of them others have."""
        shared = 0
        for text, first, last in reversed(list(self._parts(spans, 0, end))):
            users = text.users
            for block in range(last - 1, first - 1, -1):
                users[block] -= 1
                if users[block]:
                    shared += 1
                else:
                    self._idle[text, block] = None
                    text.held = block
        return shared

    def evict(self, count: int) -> None:
        """Forget so many blocks, of those that nobody has."""
        for _ in range(count):
            (text, _), _ = self._idle.popitem(last=False)
            text.users.pop()
            if not text.users:
                del self._texts[text.key]

    def _parts(self, spans: tuple[Span, ...], begin: int, end: int
               ) -> Iterator[tuple[_Text, int, int]]:
        """By text, the blocks between two of a request's, counted from where the text begins."""
        for name, start, stop in spans:
            first, last = max(begin, start), min(end, stop)
            if first < last:
                key = (name, start)
                text = self._texts.get(key)
                if text is None:
                    text = self._texts[key] = _Text(key)
                yield text, first - start, last - start
