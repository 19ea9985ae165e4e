"""Deployments that tests write, and the programs of Debian that check the files."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from calc.answer.request_lengths import Longest
from calc.launching.server import Layout, Part, release_of
from calc.launching.starting import Pool

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

WRITTEN = ("vllm-0.8.5", "vllm-limits", "vllm-wide", "vllm-two-per-node",
           "ascend-between", "ascend-pools", "sglang-drafts", "sglang-pools-router", "vllm-pools")


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip where a program is missing; where ``.ci/run`` installed them, none is."""
    lost = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(lost), reason=f"no {', '.join(lost)}: {INSTALL}")


def done(*command: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, its output caught."""
    return subprocess.run([str(word) for word in command], cwd=folder, capture_output=True,
                          text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})


def arguments(script: str, name: str) -> list[list[str]]:
    """Words of an array of a script."""
    return [shlex.split(text, comments=True)
            for text in re.findall(rf"{name}=\((.*?)\n *\)", script, re.DOTALL)]


ALONE = Layout(8, 1, 1, 1, 1, 2, 1, 2, (Part(0, 0, 0, 0, 8, 8000), Part(1, 0, 1, 0, 8, 8003)))


def pool(engine: str, layout: Layout) -> Pool:
    """Servers on the nodes a and b, a quarter of whose prompts is cached."""
    scenario: Any = SimpleNamespace(heading={"en": "mine"},
                                    inputs=lambda: {"prefix_hit_share": 0.25})
    return Pool("serve", scenario, release_of(*engine.split("@")), layout,
                Longest(4096, ("", ""), 0.0), ("a", "b"), (), ())
