"""Changes that make a deployment run: each runs, none smaller does, the nearest comes first."""

import functools

import numpy as np
import pytest
from _seen import told_of

import calc
import catalogue
from calc.answer.nearest import AXES, LEAST_CHUNK, layouts_of, nearest_changes
from calc.layouts.feasible import HEADROOM, Judge, has_room, reasons
from calc.layouts.layout import Sizes, card_counts, enumerate_layouts
from catalogue.deployments.admission import cut_of, subject_of
from catalogue.messages import LANGUAGES

R1, AWQ, PLAN = "h200-r1-vllm-tp8", "s2-910b1-awq", "s0-scenario-1"
DEAL = "parallelism.decode_context_parallel"
CONTEXT, CHUNK, USERS = ("workload.context_tokens", "workload.max_num_batched_tokens",
                         "workload.concurrency")
LONG = (f"{CONTEXT}=160000", f"{USERS}=24")
BEYOND = (f"{CONTEXT}=200000", f"{USERS}=2", "workload.requests=2")
MANY = ("minimax-m2.5-8xh20", (f"{USERS}=2000",))
STAGED = ("parallelism.pipeline_parallel=2", "cluster.nodes=2")
SHORT = [
    (PLAN, ()), ("s1-plan-c", ()), (PLAN, ("precision=fp8-block",)), MANY, (R1, LONG),
    (AWQ, ("precision=fp8-block",)), (AWQ, (f"{USERS}=300",)), (AWQ, (f"{USERS}=3000",)),
    (AWQ, (f"{CONTEXT}=200000",)), (R1, ("precision=bf16",)), (R1, BEYOND),
    ("h20-qwen3-8b", ("precision=mxfp4-w4a4", "model=deepseek-v3")), (R1, (f"{CHUNK}=400000",))]


@functools.cache
def searched(name, settings=()):
    scenario = catalogue.load_scenario(name, overrides=settings)
    quantities = calc.evaluate(scenario.inputs(), scenario.model.attention)
    return scenario, quantities, nearest_changes(scenario, quantities)


def settings_of(name, settings=()):
    return [change.settings for change in searched(name, settings)[2]]


def ran(name, settings, change):
    """A deployment with a change, what it gives, and whether it runs."""
    again = catalogue.load_scenario(name, overrides=[
        *settings, *(f"{key}={value}" for key, value in change.items())])
    found = calc.evaluate(again.inputs(), again.model.attention)
    return again, found, not reasons(again, found)


@pytest.mark.parametrize(("name", "settings"), SHORT)
def test_every_change_runs_when_it_is_set(name, settings):
    changes = searched(name, settings)[2]
    assert changes
    assert not ran(name, settings, {})[2]
    for number, change in enumerate(changes):
        again, _, runs = ran(name, settings, change.settings)
        assert runs
        assert (again.devices, set(LANGUAGES)) == (change.devices, change.text.keys())
        assert change.quantities == pytest.approx(told_of(again), rel=1e-9)
        assert not any(other.settings.items() <= change.settings.items()
                       for other in changes[:number])


@pytest.mark.parametrize(("name", "settings", "expected"), [
    (PLAN, (), {"precision": "w8a8-int8", "parallelism.tensor_parallel": 4,
                "parallelism.pipeline_parallel": 4, "parallelism.data_parallel": 1}),
    ("s1-plan-c", (), {"parallelism.expert_parallel": 32}), (R1, LONG, {DEAL: 8}),
    (AWQ, ("precision=fp8-block", "device.memory_capacity=200 GB"), {"precision": "w8a8-int8"}),
    (R1, ("precision=bf16",), {"precision": "fp8-block"}), (R1, BEYOND, {CONTEXT: 163_840}),
    ("h200-r1-sglang-mtp", STAGED, {"workload.draft_tokens": 0})])
def test_nearest_change(name, settings, expected):
    """A layout comes before a precision, and of the precisions the nearest that the card has."""
    assert settings_of(name, settings)[0] == expected
    assert ran(name, settings, expected)[2]
    assert DEAL not in expected or not ran(name, settings, {DEAL: 4})[2]  # the fewest ranks


@pytest.mark.parametrize(("name", "asked"), [(R1, 800_000), (R1, 400_000), (AWQ, 100_000)])
def test_chunks_are_halved_until_they_fit(name, asked):
    settings = (f"{CHUNK}={asked}",)
    size = next(found[CHUNK] for found in settings_of(name, settings) if CHUNK in found)
    assert size >= LEAST_CHUNK
    while (size := 2 * size) < asked:
        assert not ran(name, settings, {CHUNK: size})[2]
    assert size == asked


@pytest.mark.parametrize("asked", [1300, 2000, 2600, 3000])
def test_fewer_requests_are_proposed_where_half_of_them_remain(asked):
    settings = (f"{USERS}={asked}", f"workload.requests={asked}")
    most = int(searched(R1, settings)[1]["max_concurrency"])
    assert ({USERS: most} in settings_of(R1, settings)) == (asked / 2 <= most < asked)


@pytest.mark.parametrize(("name", "settings", "expected"), [
    (R1, LONG, [25_920]),
    (R1, (*LONG, "workload.input_tokens=20000", "workload.output_tokens=5920"), [25_920]),
    (R1, (*LONG, "workload.input_tokens=20000", "workload.output_tokens=5921"), []),
    ("s1-plan-c", (f"{CONTEXT}=45000", "parallelism.expert_parallel=32"), [22_768]),
    ("s1-plan-c", (f"{CONTEXT}=48000", "parallelism.expert_parallel=32"), []),
    (R1, ("workload.input_tokens=200000", f"{CONTEXT}=201000", *BEYOND[1:]), [])])
def test_shorter_context_is_the_longest_that_fits_and_enough(name, settings, expected):
    """In whole blocks, of no fewer tokens than a request has; half of it where none is stated."""
    told = [found[CONTEXT] for found in settings_of(name, settings) if set(found) == {CONTEXT}]
    assert told == expected
    size = searched(name, settings)[0].inputs()["block_size"]
    assert not any(ran(name, settings, {CONTEXT: tokens + size})[2] for tokens in told)


@pytest.mark.parametrize(("name", "settings"), [(PLAN, ()), MANY, (R1, ("precision=bf16",))])
def test_no_fewer_cards_suffice(name, settings):
    """Of smaller numbers no layout that an engine loads has room, in the precision asked for."""
    scenario, _, changes = searched(name, settings)
    more = next(change for change in changes if change.devices > scenario.devices)
    counts = card_counts(scenario.devices + 1, more.devices,
                         int(scenario.node.devices_per_node.value))
    assert ("precision" in more.settings, counts[-1]) == (False, more.devices)
    rows, _ = enumerate_layouts(counts[:-1], Sizes())
    loaded = Judge().kinds(subject_of(scenario), rows) < 0
    found = calc.evaluate(scenario.inputs() | {
        f"{key}_parallel": rows[key][loaded] for key in ("tensor", "pipeline", "data", "expert")},
        scenario.model.attention, decode=False)
    assert not has_room(found[HEADROOM]).any()


@pytest.mark.parametrize(("name", "settings"), [
    ("s1-plan-c", ()), (AWQ, (f"{USERS}=300",)), (AWQ, (f"{CHUNK}=100000",))])
def test_no_nearer_layout_has_the_margin(name, settings):
    """The first layout with room for what an engine may reserve besides is proposed."""
    scenario, _, changes = searched(name, settings)
    layouts = layouts_of(scenario, scenario.devices, [scenario.precision])
    cut, reserve = cut_of(ran(name, settings, changes[0].settings)[0]), (
        scenario.device.runtime_reserve)
    chosen = np.all([layouts.rows[axis] == getattr(cut, axis) for axis in AXES], axis=0).argmax()
    *before, room = layouts.headroom[0, :chosen + 1]
    assert room >= layouts.margin > max(before)
    assert layouts.margin == float(reserve.high - reserve.value) > 0
