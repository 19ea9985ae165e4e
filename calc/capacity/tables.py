"""What the runtime gives for every cut of so many cards, whatever is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calc.layouts.feasible import KINDS, admitted
from calc.layouts.layout import Sizes, at, changed, enumerate_layouts, iter_rows, placement
from calc.many.sweeps import sweep
from calc.serving.metrics import MOST_SEQUENCES
from catalogue import Scenario
from catalogue.deployments.admission import CONTEXT, OF_PRECISION, cut_of, subject_of
from catalogue.deployments.layout import DEGREES

REQUESTS = 48  # numbers of requests that are tried of each layout
Cut = tuple[int, int, int, int]  # tensor, pipeline, data and expert parallel size
Way = tuple[int, int]  # drafted tokens of a step, and the micro-batches that it is run in
Choice = tuple[Cut, Way]


def on(scenario: Scenario, devices: int, cut: Cut) -> Scenario:
    """A deployment on so many cards of its kind, cut so; what it states of copies goes along."""
    per_node = int(scenario.node.devices_per_node.value)
    nodes = max(1, -(-devices // per_node))
    settings: dict[str, str | int] = {"cluster.nodes": nodes}
    if scenario.file.cluster.devices is not None or devices < nodes * per_node:
        settings["cluster.devices"] = devices
    return changed(scenario, settings | {
        f"parallelism.{name}": size for name, size in zip(DEGREES, cut, strict=True)})


def layouts(scenario: Scenario, devices: int, narrow: bool = False, mixed: bool = False
            ) -> list[Cut]:
    """Every cut of so many cards that an engine loads, and in which it drafts if it is to.

    Args:
        scenario: the deployment.
        devices: cards [1].
        narrow: whether the experts of a replica stay in one server.
        mixed: whether prompts are prefilled beside decode, without ranks that step together in a
            pipeline.
    """
    own = cut_of(scenario)
    rows, _ = enumerate_layouts((devices,),
                                Sizes(slices=(own.slices,), spares=lambda _: (own.spares,),
                                      context=(own.context,)))
    alike = {"shared_ranks": own.shared_ranks, "drafts": own.drafts, "drafter": own.drafter}
    rows |= {name: np.full(len(rows["tensor"]), value) for name, value in alike.items()}
    # what it is stored in, and how long its requests are, is the deployment's own
    keep = admitted(replace(subject_of(scenario), staged_groups=not mixed), rows, [
        kind for kind in KINDS if kind not in (*OF_PRECISION, CONTEXT)])
    found = [(row["tensor"], row["pipeline"], row["data"], row["expert"])
             for row in iter_rows(at(rows, keep))]
    return [cut for cut in found if not (narrow and is_wide(scenario, cut))]


def is_wide(scenario: Scenario, cut: Cut) -> bool:
    """Whether the experts of a replica lie on more cards than one server has."""
    return bool(cut[3] > scenario.node.devices_per_node.value)


def ways(scenario: Scenario, cuts: Sequence[Cut]) -> list[Choice]:
    """How steps of cuts are tried: with the deployment's own drafts, none, and one where the model
    has a layer that drafts; in micro-batches where ranks exchange tokens that they may hide.
    """
    layers, own = scenario.model.num_nextn_predict_layers, scenario.inputs()["draft_tokens"]
    drafts = sorted({int(own), *((0, 1) if layers and layers.value else ())})
    return [(cut, (drafted, batches)) for cut in cuts for drafted in drafts
            for batches in ((1, 2) if cut[3] > cut[0] else (1,))]


def requests_of(choices: Sequence[Choice]) -> np.ndarray:
    """Numbers of requests in flight that are tried of each cut: as many on each rank [request]."""
    each = np.unique(np.geomspace(1, MOST_SEQUENCES, REQUESTS).round())
    return np.array([each * cut[2] for cut, _ in choices])


class Tables:
    """What the runtime gives for every cut of so many cards, whatever the limits: made once.

    Args:
        scenario: the deployment.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._slices = cut_of(scenario).slices
        self._inputs: dict[tuple[Any, ...], dict[str, Any]] = {}

    def rows(self, devices: int, choices: Sequence[Choice]) -> list[dict[str, Any]]:
        """The inputs of cuts of so many cards, each with the way its steps are tried."""
        return [{**self._alike(devices, cut), **dict(zip(DEGREES, cut, strict=True)),
                 "draft_tokens": drafts, "micro_batches": batches}
                for cut, (drafts, batches) in choices]

    def _alike(self, devices: int, cut: Cut) -> dict[str, Any]:
        """The inputs of a cut that lies on servers as this one does."""
        tensor, _, data, expert = cut
        kind = placement(self.scenario.node, {
            "devices": devices, "tensor": tensor, "data": data, "expert": expert,
            "slices": self._slices})
        if kind not in self._inputs:
            self._inputs[kind] = on(self.scenario, devices, cut).inputs()
        return self._inputs[kind]

    def sweep(self, devices: int, choices: Sequence[Choice], counts: np.ndarray,
              names: Sequence[str], **given: float) -> dict[str, np.ndarray]:
        """Quantities of every choice (rows) at its numbers of requests (columns).

        Args:
            devices: cards [1].
            choices: of so many cards.
            counts: requests in flight, shape (choices, numbers) [request].
            names: quantities.
            given: inputs in place of the deployment's.
        """
        rows = self.rows(devices, choices)
        columns: dict[str, Any] = {}
        for name in rows[0]:
            values = np.array([row[name] for row in rows], float)
            columns[name] = values[0] if (values == values[0]).all() else np.repeat(
                values, counts.shape[1])
        columns |= given
        columns["concurrency"] = counts.ravel()
        found = sweep(columns, self.scenario.model.attention, names)
        return {name: column.reshape(counts.shape) for name, column in found.items()}
