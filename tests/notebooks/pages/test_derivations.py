"""Chapters of derivations: decisions turn where both sides are equal, diagrams are to scale."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

import catalogue
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.diagrams import (
    halves,
)
from notebooks.pages.derivations.exercises import turns

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
STORED = Derivation("none")  # every formula as stored
ANSWERED = {"memory": turns.LONG, "compute": turns.DEEP, "communication": turns.USUAL,
            "latency": turns.USUAL, "throughput": turns.USUAL, "serving": turns.BURST}


# --- exercises ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ANSWERED)
def test_commands_of_exercises_set_the_inputs_of_their_answers(name):
    english, chinese = (
        [shlex.split(line) for line in re.sub(r"\\\n\s*", "", "\n".join(re.findall(
            r"```bash\n(.*?)```", text, re.DOTALL))).splitlines() if line.strip()]
        for text in (NOTEBOOKS / f"{name}.md").read_text("utf-8").split("-exercises)=")[1:])
    assert english == chinese
    for command in english:
        assert command[:2] == ["will-it-fit", "estimate"]
        changes = [each for each in command[3:] if each != "--set"]
        catalogue.load_scenario(command[2], overrides=changes)
        assert {f"workload.{key}={value}" for key, value in ANSWERED[name].items()} <= set(changes)
        scenario, *settings = turns.R1
        assert command[2] != scenario or {*settings} <= {*changes}


# --- diagrams ----------------------------------------------------------------------------------


@cache
def spread() -> dict[str, float]:
    return catalogue.load_scenario("s2-910b1-awq", overrides=(
        "device=nvidia-h800", "cluster.node=hgx-h800", "precision=fp8-block", "cluster.nodes=4",
        "parallelism.tensor_parallel=1", "parallelism.data_parallel=32",
        "parallelism.expert_parallel=32")).inputs()


def step(inputs: dict[str, float], **changed: float) -> dict[str, float]:
    return (inputs := inputs | changed) | STORED.values(inputs, "mla")


@pytest.mark.parametrize("batches", [1, 2])
def test_busy_parts_less_hidden_time_are_the_decode_step(batches):
    values = step(spread(), concurrency=4096, draft_tokens=0, micro_batches=batches,
                  single_batch_overlap=0, unequal_streams=0)
    busy = sum(time for _, time in halves.parts(values))
    assert busy - values["decode_hidden_time"] == pytest.approx(values["decode_device_time"])
