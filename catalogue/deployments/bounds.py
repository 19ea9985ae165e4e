"""Deployments that ran the shortest measured steps (``params/bounds/``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalogue import library
from catalogue.deployments.loading import overridden_scenario
from catalogue.deployments.scenario import Scenario
from catalogue.entries.bounds import MeasuredStep
from catalogue.entries.hardware import Device
from catalogue.reading.words import revealed
from catalogue.reading.yamlfile import YamlFile

TOKENS = 1024  # of the requests of a measured step, and of their answers


def deployment_of(step: MeasuredStep, engine: bool = True, users: float | None = None,
                  mechanisms: Mapping[str, str] | None = None) -> Scenario:
    """The deployment of a measured step.

    Args:
        step: as measured.
        engine: whether it runs under its engine; otherwise the card's own mechanisms hold.
        users: requests in the step; those of the measurement, if absent [1].
        mechanisms: values that it states, as a file has them.
    """
    device: Device = library.load("devices", step.device)
    ranks = int(step.tensor_parallel.value)
    data: dict[str, Any] = {
        "id": "measured-step", "title": {"en": "measured step", "zh": "实测的一步"},
        "defaults": {"source": step.tpot.source, "kind": "measured"},
        "model": step.model, "device": step.device, "precision": step.precision,
        "cluster": {"node": device.node, "nodes": 1, "devices": ranks},
        "parallelism": {"tensor_parallel": ranks, "pipeline_parallel": 1, "data_parallel": 1,
                        "expert_parallel": 1},
        "scheduling": "mixed",
        "workload": {
            "concurrency": f"{users or step.users.value:g} request",
            "input_tokens": f"{TOKENS} token", "output_tokens": f"{TOKENS} token",
            "max_num_batched_tokens": "8192 token", "block_size": "64 token",
            "memory_utilization": 0.9},
        "mechanisms": dict(mechanisms or {})}
    if engine:
        data["engine"] = revealed(step.engine)
    return overridden_scenario(YamlFile(library.locate("bounds", "nvidia"), data, {}), {})
