"""Chapters of derivations: decisions turn where both sides are equal, diagrams are to scale."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

import catalogue
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.choices import serving
from notebooks.pages.derivations.choices.layouts import A2, H200, Layout
from notebooks.pages.derivations.diagrams import (
    halves,
)
from notebooks.pages.derivations.exercises import turns
from notebooks.pages.derivations.measured.serving import SHORT, Grid, errors_of_bursts
from notebooks.pages.derivations.throughput import quantities

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
STORED = Derivation("none")  # every formula as stored
ANSWERED = {"memory": turns.LONG, "compute": turns.DEEP, "communication": turns.USUAL,
            "latency": turns.USUAL, "throughput": turns.USUAL, "serving": turns.BURST}


# --- decisions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [Layout(H200, 1, 8), Layout(A2, 2, 8)])
def test_chunk_capacity_is_the_last_number_of_requests_within_the_limit(layout):
    system = serving.Chunks(STORED, layout)
    capacity = system.capacity_with(1024)
    assert capacity == system.at(1024, capacity.requests)
    assert system.at(1024, capacity.requests + 1) is None


def test_longest_chunk_keeps_the_gap_and_the_next_does_not():
    system = serving.Chunks(STORED, Layout(A2, 2, 8))
    chunk = system.longest(serving.GAP, 12)
    kept, broken = (values["prefill_step_time"] + values["riding_time"] for values in (
        quantities(STORED, system.inputs, concurrency=12, max_num_batched_tokens=size)
        for size in (chunk, chunk + serving.MULTIPLE)))
    assert kept <= serving.GAP < broken


# --- bursts ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grid():
    return Grid()


@pytest.mark.parametrize("requests", [2, 5, 16])
def test_measured_bursts_obey_the_derived_laws(grid, requests):
    """Prefill of the whole burst is waited for before or after the first token."""
    later = 511
    assert grid.packed(grid.budget, requests) == pytest.approx(grid.rule(grid.budget, requests))
    waits = grid.packed(grid.budget, requests) + later * grid.stall(grid.budget, requests, later)
    assert waits == pytest.approx(requests * grid.chunk_time(grid.budget))
    assert grid.packed(SHORT, requests) < grid.chunk_time(SHORT) + grid.chunk_time(
        (requests - 1) * SHORT)
    assert all(SHORT <= burst.tokens <= grid.budget for burst in errors_of_bursts(grid))


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
