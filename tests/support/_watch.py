"""A pool of two servers that is watched, and what is predicted of it, of numbers that differ."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any

from calc.launching.layout import Layout, Part
from calc.launching.lengths import Longest
from calc.launching.scripts import Pool
from calc.launching.settings import release_of
from calc.launching.watching.predictions import Predicted
from calc.uncertainty.amount import Amount
from catalogue.entries.entry import ServiceLimits

ALONE = Layout(8, 1, 1, 1, 1, 2, 1, 2, (Part(0, 0, 0, 0, 8, 8000), Part(1, 0, 1, 0, 8, 8003)))
OVER_NODES = Layout(8, 2, 1, 1, 1, 1, 2, 2, (Part(0, 0, 0, 0, 8, 8000), Part(0, 1, 1, 0, 8, 8000)))


def pool(engine: str = "vllm@0.33.0", name: str = "serve", limits: dict[str, Any] | None = None,
         drafts: int = 0, accepted: float = 1.6, layout: Layout = ALONE) -> Pool:
    """Three replicas on the nodes a and b, a quarter of whose prompts is found."""
    promised = ServiceLimits.model_validate(limits) if limits else None
    scenario: Any = Made(
        id="mine", replicas=3,
        inputs=lambda: {"accepted_length": accepted, "prefix_hit_share": 0.25},
        file=Made(limits=promised, workload=Made(draft_tokens=Made(value=drafts))))
    return Pool(name, scenario, release_of(*engine.split("@")), layout, Longest(4096, "", 0.0),
                ("a", "b"), (), ())


def expected(**changed: Any) -> Predicted:
    """Forty of at most 64 requests in flight, 1.75 answered a second with 400 tokens each."""
    given: dict[str, Any] = {
        "ttft": Amount(0.5, 0.25, 2.0, "s"), "tpot": Amount(0.03125, 0.025, 0.05, "s"),
        "e2e": Amount(9.0, 8.0, 12.0, "s"), "throughput": Amount(700.0, 500.0, 900.0, "token/s"),
        "requests": Amount(1.75, 1.25, 2.25, "request/s"), "planned": 64.0, "in_flight": 40.0,
        "occupied": Amount(0.3, 0.2, 0.6), "overflow": 0.25, "prompt": 3000.0, "answer": 400.0,
        "limits": {"input_tokens": 5000.0, "output_tokens": 700.0, "prefix_hit_share": 0.125,
                   "accepted_length": 1.5}, "burst": False}
    return Predicted(**given | changed)
