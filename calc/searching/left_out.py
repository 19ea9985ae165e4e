"""How many deployments a search left out, and at which bound; every one is counted once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from calc.layouts.enumerate import MOST_STAGES
from catalogue.deployments.admission import KINDS, kind_words
from catalogue.messages import Pair, messages

say = messages("calc/searching/left-out")

COUNTED = ("memory", "pace", "objective", "saturated", "limits", "beaten", "front")
"""Of deployments; what stands before them in ``bound_words`` is of precisions and layouts."""
ORDER = (*(kind for kind in KINDS if kind != "drafts"), "unknown", "unpublished", "widened",
         "unpriced", "quality", "pipeline", "drafts", *COUNTED)


@cache
def bound_words() -> dict[str, Pair]:
    """Why a deployment is not in the answer, in the order in which it is asked."""
    kinds = kind_words()
    return {
        **{kind: words for kind, words in kinds.items() if kind != "drafts"},
        "unknown": say("precisions-unknown"),
        "unpublished": say("precisions-unpublished"),
        "widened": say("precisions-widened"),
        "unpriced": say("cards-unpriced"),
        "quality": say("precisions-whose-published-scores-do"),
        "pipeline": say("layouts-of-more-than-pipeline", most=MOST_STAGES),
        "drafts": kinds["drafts"],
        "memory": say("do-not-fit-memory"),
        "pace": say("decode-steps-alone-slower-than"),
        "objective": say("no-better-than-one-found"),
        "saturated": say("cannot-keep-up-with-what"),
        "limits": say("computed-and-over-limit"),
        "beaten": say("within-all-limits-and-another"),
        "front": say("on-front"),
    }


@dataclass
class Funnel:
    """Deployments by what became of them.

    Attributes:
        counts: by name of ``bound_words``.
        computed: of which all quantities were computed.
    """

    counts: Counter[str] = field(default_factory=Counter)
    computed: int = 0

    @property
    def deployments(self) -> int:
        """All that were tried: the sum of what became of them [1]."""
        return sum(self.counts[name] for name in COUNTED)

    def merge(self, other: Funnel) -> None:
        """Take in what became of others."""
        self.counts += other.counts
        self.computed += other.computed

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"deployments": self.deployments, "computed": self.computed,
                "by_bound": {name: self.counts[name] for name in ORDER if self.counts[name]}}
