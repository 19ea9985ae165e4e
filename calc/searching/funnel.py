"""How many deployments a search left out, and at which bound; every one is counted once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

BOUNDS = {
    "dtype": ("precisions that a device does not multiply", "设备不支持的精度"),
    "division": ("layouts that divide neither model nor cards", "无法整除模型或卡数的切分"),
    "blocks": ("layouts that cut a block of scales", "切开量化块、引擎不加载的切分"),
    "stages": ("layouts with pipeline stages of ranks that share experts, for whose steady state "
               "the closed form does not hold",
               "流水线切分又跨卡共享专家的切分（闭式稳态对其不成立）"),
    "drafts": ("layouts with pipeline stages tried without drafts, as engines draft none there",
               "只在不起草时尝试的流水线切分（引擎不跨流水线级起草）"),
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
