"""How many deployments a search left out, and at which bound; every one is counted once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from calc.layouts.enumerate import MOST_STAGES
from calc.layouts.feasible import KINDS

BOUNDS = {
    **{kind: words for kind, words in KINDS.items() if kind != "drafts"},
    "quality": ("precisions whose published scores do not keep the quality that is asked for",
                "公开分数达不到所求质量的精度"),
    "pipeline": (f"layouts of more than {MOST_STAGES} pipeline stages",
                 f"流水线超过 {MOST_STAGES} 级的切分"),
    "drafts": KINDS["drafts"],
    "memory": ("do not fit the memory", "显存放不下"),
    "pace": ("decode steps alone slower than the limit", "仅解码步就已超过时延上限"),
    "objective": ("no better than one found, even without their prompts",
                  "即使不计预填充也不优于已有方案"),
    "saturated": ("cannot keep up with what is asked", "吞吐跟不上请求"),
    "limits": ("computed, and over a limit", "完整计算后超出某项限制"),
    "beaten": ("within all limits, and another is better", "满足限制，但被其他方案支配"),
    "front": ("on the front", "位于前沿"),
}
"""Why a deployment is not in the answer, in the order in which it is asked, in both languages."""
COUNTED = ("memory", "pace", "objective", "saturated", "limits", "beaten", "front")
"""Of deployments; what stands before them in ``BOUNDS`` is counted in precisions and layouts."""


@dataclass
class Funnel:
    """Deployments by what became of them.

    Attributes:
        counts: by name of ``BOUNDS``.
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
                "by_bound": {name: self.counts[name] for name in BOUNDS if self.counts[name]}}
