"""The nearest of some names to one that is not among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

TYPO = 0.75  # similarity of a name to one that is mistyped
ALIKE = 0.6  # and of one that may be meant
BEGINNING = 3  # letters of a beginning that is near to the whole
LONGEST = 60  # characters that are compared
_FORM = r"\d+g(b|ib)?|hbm.*|g?ddr.*|sxm\d?|pcie.*|nvl\d*|oam"  # of a card, which tells less
_TELLING = re.compile(rf"(?!({_FORM})$)([a-z]*\d[a-z0-9.]+|[a-z]+\d)")  # of a name: h200, v3.1


def nearest_names(wanted: str, names: Iterable[str], count: int = 3, cutoff: float = ALIKE, *,
                  also: Mapping[str, Iterable[str]] = MappingProxyType({})) -> list[str]:
    """Return the names nearest to a wanted one, in any case; none where none is alike.

    Names that share a word with digits, which is what tells cards and models apart, come before
    those that merely look alike.

    >>> nearest_names("NVIDIA-H200-141GB-HBM3e", ["nvidia-h20-141gb", "nvidia-h200-sxm"])
    ['nvidia-h200-sxm']
    >>> nearest_names("deepsek-r1", ["deepseek-v3"], also={"deepseek-v3": ["deepseek-r1"]})
    ['deepseek-r1']

    Args:
        wanted: what was written.
        names: to choose from.
        count: at most.
        cutoff: similarity from 0 to 1, `TYPO` where only mistyped names are meant.
        also: further names of some, returned in place of one that is less near.
    """
    from difflib import SequenceMatcher  # of messages alone

    text = _plain(wanted)
    wanted_words = _words(text)
    matcher = SequenceMatcher(b=text)

    def score(name: str) -> tuple[int, int, float]:
        """Shared words that tell, all words if they are all wanted, similarity."""
        spelling = _plain(name)
        matcher.set_seq1(spelling)
        own = _words(spelling)
        shared = sum(bool(_TELLING.fullmatch(word)) for word in wanted_words & own)
        alike = matcher.ratio() if matcher.quick_ratio() >= cutoff else 0.0
        if spelling.startswith(text) and len(text) >= BEGINNING:
            alike = max(alike, cutoff)
        return (shared, len(own) if shared and own <= wanted_words else 0,
                alike if alike >= cutoff else 0.0)

    ranked = []
    for name in names:
        own, others = score(name), also.get(name, ())
        scores = [(own, name), *((score(other), other) for other in others)]
        (shared, *_), shown = max(scores, key=lambda pair: (pair[0][0], pair[0][2]))
        ranked.append((max(pair[0] for pair in scores),
                       name if own[0] == shared and any(own) else shown))
    ranked.sort(key=lambda pair: pair[1])  # equally near ones in one order
    ranked.sort(key=lambda pair: pair[0], reverse=True)
    return [name for best, name in ranked if best[0] == ranked[0][0][0] and any(best)][:count]


def _plain(text: str) -> str:
    return re.sub(r"[\s_]+", "-", text.strip().casefold())[:LONGEST]


def _words(text: str) -> set[str]:
    return {*re.findall(r"[\w.]+", text)}
