"""A deployment with some of its settings changed, and the ``--set`` line that says so."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from catalogue import Scenario, library


def changed(scenario: Scenario, settings: Mapping[str, str | int]) -> Scenario:
    """The deployment with settings of a change in place of its own, which keep its provenance.

    What neither states is its engine's default for the layout that it is then.
    """
    groups: dict[str, dict[str, Any]] = {}
    for path, new in settings.items():
        root, _, key = path.partition(".")
        if root == "precision":
            scenario = scenario.in_precision(library.load("precisions", str(new)))
            continue
        group = getattr(scenario.file, root)
        old = (group.get(key) if isinstance(group, dict) else getattr(group, key)
               ) or scenario.file.cluster.nodes
        if isinstance(old, str):  # one of a few ways
            groups.setdefault(root, {})[key] = new
            continue
        number = int(new)
        groups.setdefault(root, {})[key] = replace(
            old, value=number, written=str(number), low=number, high=number, note=None, others=())
    parts = {}
    for root, values in groups.items():
        group = getattr(scenario.file, root)
        parts[root] = ({**group, **values} if isinstance(group, dict) else
                       group.model_copy(update=values))
    return scenario.with_file(scenario.file.model_copy(update=parts), groups.get("workload", ()))


def set_line(settings: Mapping[str, str | int]) -> str:
    """Settings as ``--set`` takes them, on a line for a shell."""
    return " ".join(f"--set {shlex.quote(f'{key}={value}')}" for key, value in settings.items())
