"""Deployments that tests write down, and the programs of Debian that check what was written.

Beside those of the catalogue a pool of two servers that is watched, of numbers that all differ, and
what starts it as it looks at it: plain values, and a release that takes whatever it is told.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace as Made
from typing import Any

import pytest

from calc.answer.request_lengths import Longest
from calc.launching.monitoring import Predicted
from calc.launching.pools import Pool
from calc.launching.server import Layout, Part, Release, release_of
from calc.uncertainty import Amount
from catalogue.entries.entry import ServiceLimits

INSTALL = "apt-get install --no-install-recommends haproxy nginx-light prometheus shellcheck"
LENGTHS = ("workload.input_tokens=1536 token", "workload.output_tokens=512 token")
S0_RUNS = ("precision=w8a8-int8", "parallelism.tensor_parallel=4",
           "parallelism.pipeline_parallel=4", "parallelism.data_parallel=1", *LENGTHS)
S0_POOLS = ("precision=w4a8-int8", "workload.memory_utilization=0.95")
S1_RUNS = ("precision=fp8-block", "parallelism.expert_parallel=32",
           "workload.max_num_batched_tokens=8192 token", *LENGTHS)
# scenario, overrides, engine: one server, several of them, over nodes, wide, drafts, two pools
CASES = {
    "vllm-0.11": ("h200-r1-vllm-tp8", (), None),
    "vllm-0.8.5": ("h200-r1-vllm-tp8", (), "vllm@0.8.5.post1"),
    "vllm-0.33": ("h200-r1-vllm-tp8", (), "vllm@0.33.0"),
    "vllm-drafts": ("h200-v32-vllm-mtp", (), None),
    "vllm-limits": ("h200-r1-vllm-tp8", ("workload.concurrency=64", "workload.requests=64",
                                         "limits.ttft.p90=4 s", "limits.tpot.p99=60 ms",
                                         "limits.e2e.mean=90 s"), "vllm@0.33.0"),
    "sglang-limits": ("h200-v32-sglang-dp8", ("limits.ttft.mean=60 s", "limits.tpot=200 ms"),
                      "sglang@0.5.23"),
    "vllm-wide": ("s1-plan-c", S1_RUNS, "vllm@0.13.0"),
    "vllm-two-per-node": ("h20-qwen3-8b", ("cluster.devices=2", "parallelism.data_parallel=2"),
                          "vllm@0.18.1"),
    "ascend-ray": ("s0-scenario-1", S0_RUNS, "vllm-ascend@0.11.0"),
    "ascend-nodes": ("s0-scenario-1", S0_RUNS, "vllm-ascend@0.18.0"),
    "ascend-between": ("s0-scenario-1", S0_RUNS, "vllm-ascend@0.30.0rc2"),
    "ascend-pools": ("s0-scenario-3", S0_POOLS, "vllm-ascend@0.18.0"),
    "ascend-pools-0.11": ("s0-scenario-3", S0_POOLS, "vllm-ascend@0.11.0"),
    "sglang-0.5.9": ("s0-scenario-1", S0_RUNS, "sglang@0.5.9"),
    "sglang-drafts": ("h200-r1-sglang-mtp", (), None),
    "sglang-dp": ("h200-v32-sglang-dp8", (), "sglang@0.5.23"),
    "vllm-pools": ("wide-lmsys", ("workload.concurrency=4608 request",), "vllm@0.13.0"),
    "sglang-pools-lb": ("wide-lmsys", (), "sglang@0.4.10.post2"),
    "sglang-pools-router": ("wide-lmsys", (), "sglang@0.5.6.post2"),
}


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip where a program is missing; where ``.ci/run`` installed them, none is."""
    lost = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(lost), reason=f"no {', '.join(lost)}: {INSTALL}")


def done(*command: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, its output caught."""
    return subprocess.run([str(word) for word in command], cwd=folder, capture_output=True,
                          text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})


ALONE = Layout(8, 1, 1, 1, 1, 2, 1, 2, (Part(0, 0, 0, 0, 8, 8000), Part(1, 0, 1, 0, 8, 8003)))


def pool(engine: str = "vllm@0.33.0", name: str = "serve", limits: dict[str, Any] | None = None,
         drafts: int = 0, accepted: float = 1.6, layout: Layout = ALONE) -> Pool:
    """Three replicas on the nodes a and b, a quarter of whose prompts is found."""
    promised = ServiceLimits.model_validate(limits) if limits else None
    scenario: Any = Made(
        id="mine", replicas=3, heading={"en": "mine"},
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
        id="mine", replicas=3, heading={"en": "mine"}, inputs=lambda: numbers, file=Made(
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
