"""What of the documents' deployments runs: the settings that make it, and an engine's release."""

from __future__ import annotations

from dataclasses import dataclass

import catalogue
from catalogue import Scenario

LENGTHS = ("workload.input_tokens=1536 token", "workload.output_tokens=512 token")
AS_RUN = "-as-run"  # behind the name of a deployment: as it runs, not as it is written


@dataclass(frozen=True)
class Run:
    """A deployment as it runs.

    Attributes:
        scenario: as it is written.
        settings: that differ.
        engine: the release that a reader would take.
    """

    scenario: str
    settings: tuple[str, ...]
    engine: str

    def load(self) -> Scenario:
        """The deployment."""
        return catalogue.load_scenario(
            self.scenario, overrides=[*self.settings, f"engine={self.engine}"])


_WIDE = ("precision=fp8-block", "parallelism.expert_parallel=32",
         "workload.max_num_batched_tokens=8192 token", *LENGTHS)
RUNS: dict[str, Run] = {run.scenario: run for run in (
    Run("s0-scenario-1", ("precision=w8a8-int8", "parallelism.tensor_parallel=4",
                          "parallelism.pipeline_parallel=4", "parallelism.data_parallel=1",
                          *LENGTHS), "vllm-ascend@0.18.0"),
    Run("s1-plan-c", _WIDE, "vllm@0.13.0"), Run("s1-launch-production", _WIDE, "vllm@0.13.0"))}


def as_run(name: str) -> Run | None:
    """What ``NAME-as-run`` stands for; None for any other name."""
    return RUNS.get(name.removesuffix(AS_RUN)) if name.endswith(AS_RUN) else None
