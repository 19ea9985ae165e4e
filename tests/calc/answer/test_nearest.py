"""Changes that make a deployment run: each runs, none smaller does, the nearest comes first."""

import functools

import numpy as np
import pytest

import calc
import catalogue
from calc.answer.nearest import DEGREES, LEAST_CHUNK, Search
from calc.layouts.enumerate import Sizes, card_counts, enumerate_layouts
from calc.layouts.feasible import HEADROOM, Judge, has_room, reasons
from catalogue.deployments.admission.rules import cut_of, subject_of
from catalogue.messages import LANGUAGES

R1, AWQ = "h200-r1-vllm-tp8", "s2-910b1-awq"
LONG = ("workload.context_tokens=160000", "workload.concurrency=24")
BEYOND = ("workload.context_tokens=200000", "workload.concurrency=2", "workload.requests=2")
CHUNK = ("workload.max_num_batched_tokens=400000",)
STAGED = ("parallelism.pipeline_parallel=2", "cluster.nodes=2")
DEAL = "parallelism.decode_context_parallel"
SHORT = [
    ("s0-scenario-1", ()), ("s1-plan-c", ()), ("s0-scenario-1", ("precision=fp8-block",)),
    (AWQ, ("precision=fp8-block",)), (AWQ, ("workload.concurrency=300",)),
    (AWQ, ("workload.concurrency=3000",)), (AWQ, ("workload.context_tokens=200000",)),
    ("h20-qwen3-8b", ("precision=mxfp4-w4a4", "model=deepseek-v3")), (R1, ("precision=bf16",)),
    (R1, LONG), (R1, BEYOND), (R1, CHUNK), ("minimax-m2.5-8xh20", ("workload.concurrency=2000",))]


@functools.cache
def searched(name, settings=()):
    scenario = catalogue.load_scenario(name, overrides=settings)
    search = Search(scenario, calc.evaluate(scenario.inputs(), scenario.model.attention))
    return search, search.changes()


def settings_of(name, settings=()):
    return [change.settings for change in searched(name, settings)[1]]


def ran(name, settings, change):
    """What a deployment gives with a change, and whether it runs."""
    again = catalogue.load_scenario(name, overrides=[
        *settings, *(f"{key}={value}" for key, value in change.items())])
    found = calc.evaluate(again.inputs(), again.model.attention)
    return again, found, not reasons(again, found)


@pytest.mark.parametrize(("name", "settings"), SHORT)
def test_every_change_runs_when_it_is_set(name, settings):
    assert not ran(name, settings, {})[2]
    changes = searched(name, settings)[1]
    assert changes
    for change in changes:
        again, found, runs = ran(name, settings, change.settings)
        assert runs
        assert again.devices == change.devices
        assert change.text.keys() == set(LANGUAGES)
        for quantity, value in change.as_json()["quantities"].items():
            assert found[quantity] == pytest.approx(value, rel=1e-12)
    for number, change in enumerate(changes):
        assert not any(other.settings.items() <= change.settings.items()
                       for other in changes[:number])


@pytest.mark.parametrize(("name", "settings", "expected"), [
    ("s0-scenario-1", (), {"precision": "w8a8-int8", "parallelism.tensor_parallel": 4,
                           "parallelism.pipeline_parallel": 4, "parallelism.data_parallel": 1}),
    ("s1-plan-c", (), {"parallelism.expert_parallel": 32}), (R1, LONG, {DEAL: 8}),
    (AWQ, ("precision=fp8-block", "device.memory_capacity=200 GB"), {"precision": "w8a8-int8"}),
    (R1, ("precision=bf16",), {"precision": "fp8-block"}), (R1, BEYOND, {
        "workload.context_tokens": 163_840}),
    ("h200-r1-sglang-mtp", STAGED, {"workload.draft_tokens": 0})])
def test_nearest_change(name, settings, expected):
    """A layout comes before a precision, and of the precisions the nearest that the card has."""
    assert settings_of(name, settings)[0] == expected
    assert ran(name, settings, expected)[2]


@pytest.mark.parametrize(("name", "settings"), [(R1, CHUNK), (AWQ, (
    "workload.max_num_batched_tokens=100000",)), (R1, ("workload.max_num_batched_tokens=200000",))])
def test_chunks_are_halved_until_they_fit(name, settings):
    key = "workload.max_num_batched_tokens"
    size = next(found[key] for found in settings_of(name, settings) if key in found)
    asked = int(settings[0].partition("=")[2])
    assert size >= LEAST_CHUNK
    while (size := 2 * size) < asked:
        assert not ran(name, settings, {key: size})[2]
    assert size == asked


@pytest.mark.parametrize("asked", [1300, 2000, 2600, 3000])
def test_fewer_requests_are_proposed_where_half_of_them_remain(asked):
    settings = (f"workload.concurrency={asked}", f"workload.requests={asked}")
    search, _ = searched(R1, settings)
    most = int(search.found["max_concurrency"])
    told = {"workload.concurrency": most} in settings_of(R1, settings)
    assert told == (asked / 2 <= most < asked)


@pytest.mark.parametrize("lengths", [
    (), ("workload.input_tokens=20000", "workload.output_tokens=6000"),
    ("workload.input_tokens=20000", "workload.output_tokens=6240"),
    ("workload.input_tokens=20000", "workload.output_tokens=6241")])
def test_shorter_context_is_the_longest_that_fits_and_enough(lengths):
    """In whole blocks, and of no fewer tokens than a request has."""
    settings = (*LONG, *lengths)
    key, search = "workload.context_tokens", searched(R1, settings)[0]
    size, least = search.inputs["block_size"], search.inputs["input_tokens"] + search.inputs[
        "output_tokens"]
    told = [found[key] for found in settings_of(R1, settings) if set(found) == {key}]
    room = int(search.found["kv_blocks"] // search.found["requests_per_rank"]) * size
    assert told == ([room] if least <= room else [])
    if told:
        assert not ran(R1, settings, {key: room + size})[2]


@pytest.mark.parametrize(("context", "told"), [
    (28_000, [23_680]), (47_000, [23_680]), (48_000, [])])
def test_context_without_stated_lengths_is_halved_at_most(context, told):
    key = "workload.context_tokens"
    found = settings_of("s1-plan-c", (f"{key}={context}", "parallelism.expert_parallel=32"))
    assert [each[key] for each in found if set(each) == {key}] == told


def test_cache_is_dealt_over_the_fewest_ranks():
    assert not ran(R1, LONG, {DEAL: 4})[2]
    shared = (*LONG, f"{DEAL}=2")
    assert {DEAL} not in map(set, settings_of(R1, shared))  # another layout suffices there


@pytest.mark.parametrize(("name", "settings"), [
    ("s0-scenario-1", ()), ("minimax-m2.5-8xh20", ("workload.concurrency=2000",)),
    (R1, ("precision=bf16",))])
def test_no_fewer_cards_suffice(name, settings):
    """Of every smaller number no layout that an engine loads has room, in the precision asked for.
    """
    search, changes = searched(name, settings)
    scenario = search.scenario
    more = next(change for change in changes if change.devices > scenario.devices)
    assert "precision" not in more.settings
    per_node = int(scenario.node.devices_per_node.value)
    counts = card_counts(scenario.devices + 1, more.devices, per_node)
    for devices in counts[:-1]:
        rows, _ = enumerate_layouts((devices,), Sizes())
        rows = {key: column[Judge().kinds(subject_of(scenario), rows) < 0]
                for key, column in rows.items()}
        found = calc.evaluate(scenario.inputs() | {
            f"{key}_parallel": rows[key] for key in ("tensor", "pipeline", "data", "expert")},
            scenario.model.attention, decode=False)
        assert not has_room(found[HEADROOM]).any()
    assert counts[-1] == more.devices


@pytest.mark.parametrize(("name", "settings"), [
    ("s1-plan-c", ()), (AWQ, ("workload.concurrency=300",)),
    (AWQ, ("workload.max_num_batched_tokens=100000",))])
def test_no_nearer_layout_has_the_margin(name, settings):
    """The first layout with room for what an engine may reserve besides is proposed."""
    search, changes = searched(name, settings)
    chosen = cut_of(ran(name, settings, changes[0].settings)[0])
    rooms = []
    for cut in search.cuts[:search.cuts.index(chosen) + 1]:
        degrees = dict(zip(DEGREES, cut.degrees, strict=True))
        rooms.append(float(calc.evaluate(search.inputs | degrees, search.attention)[HEADROOM]))
    assert rooms[-1] >= search.margin > max(rooms[:-1])


def test_few_requests_are_half_of_the_best_at_least():
    name, settings = AWQ, ("workload.concurrency=3000",)
    search, changes = searched(name, settings)
    few = changes[0]
    assert "workload.concurrency" in few.settings
    degrees = {name: np.array([cut.degrees[at] for cut in search.cuts])
               for at, name in enumerate(DEGREES)}
    held = np.concatenate([np.broadcast_to(calc.evaluate(
        search.scenario.in_precision(precision).inputs() | degrees, "mla")["max_concurrency"],
        len(search.cuts)) for precision in search.precisions])
    most = few.settings["workload.concurrency"]
    assert most == held[np.argmax(held >= held.max() / 2)]
    assert held.max() < 3000


@pytest.mark.parametrize(("name", "settings"), [
    (R1, ("workload.input_tokens=200000", "workload.context_tokens=201000",
          "workload.concurrency=2", "workload.requests=2"))])
def test_requests_longer_than_the_model_knows_have_no_change(name, settings):
    assert settings_of(name, settings) == []


@pytest.mark.parametrize("name", ["s0-scenario-1", "s1-plan-c", "wide-lmsys-decode"])
def test_layouts_are_ordered_by_distance(name):
    """Those over a network come last, then those with more sizes moved, by more doublings."""
    search, _ = searched(name)
    degrees, asked = [cut.degrees for cut in search.cuts], search.cut.degrees
    assert degrees[0] == asked
    widest = max(asked[0], int(search.scenario.node.devices_per_node.value))
    keys = [(each[0] > widest, sum(one != two for one, two in zip(each, asked, strict=True)),
             round(sum(abs(np.log2(one / two)) for one, two in zip(each, asked, strict=True)), 6))
            for each in degrees]
    assert keys == sorted(keys)
    for cut in search.cuts:
        assert cut.tensor * cut.pipeline * cut.data == search.scenario.devices
        assert (cut.slices, cut.spares, cut.context, cut.shared_ranks, cut.drafts) == (
            search.cut.slices, search.cut.spares, search.cut.context, search.cut.shared_ranks,
            search.cut.drafts)


@pytest.mark.parametrize(("settings", "asked"), [
    ((), True), (("precision.logit=fp16",), True), (("precision=fp8-block",), False)])
def test_precisions_begin_with_the_one_asked_for(settings, asked):
    search, _ = searched(AWQ, settings)
    names = [precision.id for precision in search.precisions]
    assert search.asked is asked
    assert len(set(names)) == len(names) > 1
    assert (search.precisions[0] is search.scenario.precision) is asked
    assert (search.scenario.precision.id in names) is asked
    reserve = search.scenario.device.runtime_reserve
    assert search.margin == float(reserve.high - reserve.value) > 0


@pytest.mark.parametrize(("name", "staged"), [(AWQ, False), ("wide-lmsys-decode", True)])
def test_stages_of_ranks_that_share_experts_are_tried_where_they_are_used(name, staged):
    assert searched(name)[0].subject.staged_groups is staged
