"""The small deployment: its model imported, its directory written, as a reader would."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import catalogue
from tools.engine import model
from tools.engine.environment import WRITTEN

# a card's share of memory so small that its cache is about what the engine is given here; limits
# that this machine keeps, so that alerts on them mean what they say
DEPLOYMENT: dict[str, Any] = {
    "title": {"en": "Four layers of the shape of DeepSeek-V3", "zh": "四层 DeepSeek-V3 结构"},
    "defaults": {"source": "a test of what is written for it, nobody's plan", "kind": "assumed"},
    "model": f"{model.NAME}.yml", "device": "nvidia-h200-sxm", "engine": f"vllm@{WRITTEN}",
    "cluster": {"node": "hgx-h200", "nodes": 1, "devices": 1}, "precision": "bf16",
    "parallelism": {"tensor_parallel": 1, "pipeline_parallel": 1, "data_parallel": 1,
                    "expert_parallel": 1},
    "workload": {"concurrency": "8 request", "input_tokens": "128 token",
                 "output_tokens": "32 token", "max_num_batched_tokens": "2048 token",
                 "block_size": "64 token", "memory_utilization": 0.05},
    "limits": {"ttft": "60 s", "tpot": "5 s"}}
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Plan:
    """The directory that was written, and the checkpoint that it serves."""

    folder: Path
    checkpoint: Path

    @property
    def data(self) -> dict[str, Any]:
        """What it says of itself."""
        return json.loads((self.folder / "deployment.json").read_text(encoding="utf-8"))

    @property
    def address(self) -> str:
        """Where its server answers."""
        return f"http://{self.data['pools']['serve']['servers'][0]}"

    @property
    def served(self) -> str:
        """The name by which requests ask for the model."""
        return next(each["value"] for each in self.data["pools"]["serve"]["settings"]
                    if each["name"] == "--served-model-name")

    @property
    def runs(self) -> list[dict[str, Any]]:
        """Runs of the plan's benchmark."""
        text = (self.folder / "bench" / "plan.json").read_text(encoding="utf-8")
        return json.loads(text)["runs"]


def calc(python: Path, *arguments: object) -> str:
    """What ``python -m calc`` prints.

    Raises RuntimeError with its sentence where it refuses.
    """
    done = subprocess.run([python, "-m", "calc", *map(str, arguments)], text=True,
                          cwd=catalogue.ROOT.parent, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"python -m calc {arguments[0]}: {done.stderr.strip()[-500:]}")
    return done.stdout


def written(python: Path, folder: Path) -> Plan:
    """Import the model, write the deployment's file, and let ``deploy`` write the directory.

    Args:
        python: that runs ``calc``.
        folder: empty.
    """
    checkpoint = model.write(folder / "checkpoint", model.CONFIG)
    calc(python, "import-model", checkpoint / "config.json", "--name", "Four layers",
         "-o", folder / f"{model.NAME}.yml")
    file = folder / "plan.yml"
    file.write_text(yaml.safe_dump(DEPLOYMENT, allow_unicode=True, sort_keys=False),
                    encoding="utf-8")
    calc(python, "deploy", file, "--hosts", HOST, "-o", folder / "deployed")
    return Plan(folder / "deployed", checkpoint)
