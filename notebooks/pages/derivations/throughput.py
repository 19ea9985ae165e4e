"""Deployments of DeepSeek-V3 that chapters compare, and every quantity of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import catalogue
from catalogue.entries.formulas import Number
from catalogue.entries.hardware import Device
from notebooks.derive.formulas.derivation import Derivation

Inputs = dict[str, int | float]
Values = Mapping[str, Number]
PLAN, OTHER_PLAN = "s1-plan-c", "s0-scenario-1"
PROMPT, ANSWER = 2048, 512
FP8 = ("precision=fp8-block", "workload.max_num_batched_tokens=8192 token")


class Replica(NamedTuple):
    """Inputs of a deployment of one replica, and its device."""

    inputs: Inputs
    card: Device


def quantities(derivation: Derivation, inputs: Values, **changed: float) -> Values:
    """Inputs, some of them changed, and every quantity derived from them (SI), as it is read."""
    return derivation.quantities({**inputs, **changed}, "mla")


def deployment(scenario: str, *overrides: str, device: str | None = None) -> Replica:
    """A deployment of the catalogue with changes and the page's requests."""
    lengths = {"input": PROMPT, "output": ANSWER, "context": PROMPT + ANSWER}
    workload = (f"workload.{name}_tokens={count} token" for name, count in lengths.items())
    # a scenario that states no answer counts as a decode pool, so they are set in it
    chosen = catalogue.load_scenario(scenario, device=device, overrides=(*overrides, *workload))
    return Replica(chosen.inputs(), chosen.device)


def layout(tensor: int, pipeline: int = 1) -> tuple[str, ...]:
    """Overrides that set the parallelism of one replica."""
    sizes = {"tensor": tensor, "pipeline": pipeline, "data": 1, "expert": 1}
    return tuple(f"parallelism.{name}_parallel={size}" for name, size in sizes.items())


def h20() -> Replica:
    """DeepSeek-V3 in FP8 on eight H20."""
    return deployment(PLAN, *FP8, *layout(8), "cluster.nodes=1", device="nvidia-h20-141gb")


def h800() -> Replica:
    """DeepSeek-V3 in FP8 on sixteen H800, in TP16."""
    return deployment(PLAN, *FP8, "cluster.node=hgx-h800", "cluster.nodes=2", *layout(16),
                      device="nvidia-h800")


def ascend() -> Replica:
    """DeepSeek-V3 in W8A8 on sixteen 910B2, in TP16."""
    return deployment(OTHER_PLAN, "precision=w8a8-int8", *layout(16))
