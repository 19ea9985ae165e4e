"""What of the documents' deployments runs: the settings that make it, and an engine's release."""

from __future__ import annotations

from dataclasses import dataclass

LENGTHS = ("workload.input_tokens=1536 token", "workload.output_tokens=512 token")


@dataclass(frozen=True)
class Run:
    """A deployment as it runs.

    Attributes:
        settings: that differ from it as it is written.
        engine: the release that a reader would take.
    """

    settings: tuple[str, ...]
    engine: str

    @property
    def overrides(self) -> tuple[str, ...]:
        """What differs, its engine included."""
        return (*self.settings, f"engine={self.engine}")


RUNS: dict[str, Run] = {
    "s0-scenario-1": Run(("precision=w8a8-int8", "parallelism.tensor_parallel=4",
                          "parallelism.pipeline_parallel=4", "parallelism.data_parallel=1",
                          *LENGTHS), "vllm-ascend@0.18.0"),
    "s1-plan-c": Run(("precision=fp8-block", "parallelism.expert_parallel=32",
                      "workload.max_num_batched_tokens=8192 token", *LENGTHS), "vllm@0.13.0")}
