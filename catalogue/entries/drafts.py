"""What is stated of drafted tokens: how many of them count, as engines print it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from catalogue.reading.values import Misplaced, Value


def check(drafts: Value | None, length: Value | None, chances: Sequence[Value] | None) -> None:
    """Hold what is accepted to what can come of the drafts.

    Args:
        drafts: proposed per request and step; None for none [token].
        length: tokens that a step yields, its own included [1].
        chances: how often each draft counts, the first one first [1].

    Raises Misplaced, with the key at fault.
    """
    if length is None and chances is None:
        return
    key = "acceptance" if length is None else "accepted_length"
    if length is not None and chances is not None:
        raise Misplaced("'acceptance' says what 'accepted_length' does, expected one of them",
                        "acceptance")
    if drafts is None:
        raise Misplaced(f"'{key}' is that of drafts, expected 'draft_tokens' beside it", key)
    most = 1 + int(drafts.value)
    if length is not None and length.high > most:
        raise Misplaced(f"a step yields '{length.written}' tokens, but checks {drafts.written} "
                        f"drafts, expected 1 to {most}", key)
    if chances is not None and len(chances) != most - 1:
        raise Misplaced(f"{len(chances)} acceptances of {drafts.written} drafts, expected one for "
                        "each", key)
    for place, (before, after) in enumerate(pairwise(chances or ()), 1):
        if after.value > before.value:
            raise Misplaced(f"draft {place + 1} counts with '{after.written}', more often than the "
                            f"one before it, expected at most {before.written}", key, place)


def length_of(chances: Sequence[Value]) -> Value:
    """Tokens that a step yields [1]: its own, and each draft as often as it counts.

    Args:
        chances: of each draft, at least one [1].

    Source: notebooks/serving.md, section Drafted tokens.
    """
    value, low, high = (1 + sum(getattr(chance, end) for chance in chances)
                        for end in ("value", "low", "high"))
    return replace(chances[0], value=value, low=low, high=high, written=f"{value:.4g}")
