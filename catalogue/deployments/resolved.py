"""A deployment's file beside every entry that it names: what the inputs are drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from catalogue import library
from catalogue.deployments.precisions import on_card
from catalogue.entries.deployments import Precision, ScenarioFile
from catalogue.entries.hardware import Device, Node
from catalogue.entries.measurements import Measurements
from catalogue.entries.models import Drafter, Model
from catalogue.entries.profiles import Way
from catalogue.kernels.releases import multiplied
from catalogue.reading.values import Text, Value

# of the layer that drafts, what its table is asked for, where no text is stated
ACCEPTED = {"mtp_acceptance": "any", "acceptance_decay": "decay"}
DELAY_STEPS = 30  # SGLang's prefill_delayer_max_delay_passes
GATHERED = "exchange_gathered"  # the mechanism that says that ranks gather all tokens
NORMAL = "exchange_normal"  # the mechanism that says that a token goes once to each node
USUAL_DRAFTS = "next-token-layer"  # of a model that names none


def leaves_replica(tensor: Any, expert: Any, slices: Any) -> Any:
    """Whether more ranks share experts than a replica has: its tokens go beyond it.

    Args:
        tensor, expert: parallel sizes, numbers or arrays [1].
        slices: of each routed expert; 0 is what tensor parallelism leaves.
    """
    return expert * (slices + (slices == 0)) > tensor


def joined_replicas(tensor: Any, expert: Any, slices: Any) -> Any:
    """Replicas of attention that share experts, and are one server [1].

    >>> joined_replicas(8, 32, 0), joined_replicas(8, 4, 0), joined_replicas(8, 4, 8)
    (4, 1, 4)

    Args:
        tensor, expert, slices: as of :func:`leaves_replica`.
    """
    replicas = expert * (slices + (slices == 0)) // tensor
    return replicas + (replicas < 1)


@dataclass(frozen=True)
class Resolved:
    """A deployment with everything it names.

    Attributes:
        by_engine: mechanisms that its engine gives, by how ranks come by tokens and by name;
            nothing without an engine.
        variations: of the lengths of prompts and of answers, standard deviation over mean, where
            requests are listed [1]; None for what the workload says.
    """

    file: ScenarioFile
    path: Path
    model: Model
    device: Device
    node: Node
    precision: Precision
    measured: Measurements | None
    host: Device | None = None
    family: Text | None = None
    by_engine: Mapping[Way, Mapping[str, Value]] = field(default_factory=dict)
    variations: tuple[float, float] | None = None

    @property
    def asked_engine(self) -> str | None:
        """The engine that it names with its release as it is written; None if it names none."""
        return None

    @cached_property
    def multiplied(self) -> dict[str, str]:
        """Class of tensors -> dtype that its device multiplies for it, by its engine's kernels."""
        return multiplied(self.precision, self.device, self.asked_engine, self.model,
                          on_card(self.precision, self.file.offload))

    @property
    def way(self) -> Way:
        """How a rank comes by the tokens of its experts: of one replica, gathered, or sent."""
        cut = self.file.parallelism
        slices = cut.expert_tensor_parallel
        if not leaves_replica(cut.tensor_parallel.value, cut.expert_parallel.value,
                              slices.value if slices else 0):
            return "own"
        return self.joined_way

    @property
    def joined_way(self) -> Way:
        """How ranks that share experts come by the tokens of theirs: gathered, or sent."""
        given = self.by_engine.get("low_latency", {}).get(GATHERED)
        gathers = self.file.mechanisms.get(GATHERED, given)
        normal = self.file.mechanisms.get(NORMAL)
        if gathers and gathers.value:
            return "gathered"
        return "normal" if normal and normal.value else "low_latency"

    @property
    def given(self) -> Mapping[str, Value]:
        """Mechanisms that its engine gives, by name."""
        return self.by_engine.get(self.way, {})

    @property
    def mechanisms(self) -> dict[str, Value]:
        """Mechanisms that the deployment states, and those of its engine where it states none."""
        return {**self.given, **self.file.mechanisms}

    @property
    def delay_steps(self) -> float:
        """Steps for which ranks that share experts hold prompts back at most, 0 if they do not."""
        stated = self.file.prefill_delay_steps
        if self.file.prefill_coordination != "delay":
            return 0.0
        return float(DELAY_STEPS if stated is None else stated.value)

    @property
    def drafter(self) -> Drafter | None:
        """The drafter that it names; None where the model's own layer drafts."""
        return self.model.drafter(self.file.workload.draft_method)

    @property
    def acceptance(self) -> dict[str, Value]:
        """How often drafts are right: of the layer or the drafter, in the text stated [1]."""
        table = library.load("acceptances", self.drafter.acceptance if self.drafter
                             else self.model.draft_acceptance or USUAL_DRAFTS)
        asked = ACCEPTED | {"mtp_acceptance": self.file.workload.text or "any"}
        return {name: getattr(table, key) for name, key in asked.items()}
