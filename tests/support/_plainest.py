"""A deployment as what starts it looks at it, of plain values, and a release that takes anything.
"""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any

from calc.launching.layout import Layout, Part
from calc.launching.lengths import Longest
from calc.launching.settings import Release

NUMBERS = {"exchange_gathered": 0.0, "exchange_normal": 0.0, "micro_batches": 1.0,
           "prefill_context_parallel": 0.0, "tensor_parallel": 4.0, "concurrency": 100.0,
           "draft_tokens": 0.0, "single_batch_overlap": 0.0}
FILE = {"scheduling": "mixed", "prefill_coordination": "eager", "prefill_delay_steps": None,
        "graphs": True}
SPREAD = {"balancing": None, "redundant_experts": None, "decode_context_parallel": None}
LOAD = {"concurrency": 100, "max_num_batched_tokens": 2048, "block_size": 16,
        "memory_utilization": 0.9, "scheduler_recv_interval": None, "stream_interval": None,
        "draft_tokens": None, "draft_block": None}
MODEL = {"family": None, "attention": "gqa", "is_moe": True, "index_topk": None,
         "num_nextn_predict_layers": 1}
DEVICE = {"type": "gpu", "architecture": "sm_90"}
PRECISION = {"activation": "bf16", "kv_cache": "bf16", "kv_index": None}
WEIGHTS = {"routed_expert": "fp8", "dense_mlp": "bf16"}
PLACES = (NUMBERS, FILE, SPREAD, LOAD, MODEL, DEVICE, PRECISION, WEIGHTS)


def stated(value: Any) -> Any:
    return Made(value=value) if isinstance(value, (int, float)) and not isinstance(
        value, bool) else value


def scenario(**changed: Any) -> Any:
    """A hundred requests on three replicas of four cards; what is changed, by its name."""
    numbers, file, spread, load, model, device, precision, weights = (
        {key: changed.get(key, value) for key, value in place.items()} for place in PLACES)
    unknown = set(changed) - {key for place in PLACES for key in place} - {"multiplied", "largest"}
    assert not unknown, unknown
    stored = Made(**weights, model_dump=lambda: weights)
    return Made(
        id="mine", replicas=3, inputs=lambda: numbers, file=Made(
            **file, parallelism=Made(**{key: stated(each) for key, each in spread.items()}),
            workload=Made(**{key: stated(each) for key, each in load.items()})),
        mechanisms={"largest_graph": Made(value=changed["largest"])} if "largest" in changed
        else {},
        model=Made(id="m", **{key: stated(each) for key, each in model.items()}),
        device=Made(**device), precision=Made(
            **precision, weights=stored,
            multiply=Made(routed_expert=changed.get("multiplied", "fp8"))))


def layout(part: Part | None = None, **changed: Any) -> Layout:
    """The second of two servers on a node of eight cards."""
    given = {"tp": 4, "pp": 1, "joined": 1, "experts": 1, "slices": 1, "servers": 2, "span": 1,
             "nodes": 1} | changed
    return Layout(**given, parts=(part or Part(1, 0, 0, 4, 4, 8001),))


def release(name: str, *lacks: str) -> Release:
    """One that takes whatever it is told but what it lacks."""
    def judge(flag: str, value: Any, version: str) -> str:
        return ("unknown" if flag in lacks else "choice" if f"{flag}={value}" in lacks
                else "accepted")
    engine: Any = Made(name=name, title=name, judge=judge,
                       exists=lambda flag, version: flag not in lacks,
                       find=lambda flag: None, near=lambda flag: [], versions=("9.9",))
    return Release(name, "9.9", ((engine, "9.9"),))


def flags(engine: Any, name: str, of: Layout | None = None, role: str = "both",
          lacks: tuple[str, ...] = (), **changed: Any) -> dict[str, Any]:
    """What a server is started with, by name; none stands twice."""
    at = of or layout()
    found = engine.flags(scenario(**changed), at, at.parts[0], release(name, *lacks), role,
                         Longest(5000, "", 0.0))
    told = {each.name: each.value for each in found}
    assert len(told) == len(found)
    return told


def variables(engine: Any, name: str, of: Layout | None = None, role: str = "both",
              lacks: tuple[str, ...] = (), **changed: Any) -> dict[str, Any]:
    """The environment of a node, by name."""
    at = of or layout()
    return {each.name: each.value for each in engine.variables(
        scenario(**changed), at, at.parts[0], release(name, *lacks), role)}
