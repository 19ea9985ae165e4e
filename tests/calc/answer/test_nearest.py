"""Changes that make a deployment run: each runs, none smaller does, the nearest comes first."""

import functools

import numpy as np
import pytest
from _seen import told_of

import calc
import catalogue
from calc.answer.nearest import DEGREES, LEAST_CHUNK, Search
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
    search = Search(scenario, calc.evaluate(scenario.inputs(), scenario.model.attention))
    return search, search.changes()


def settings_of(name, settings=()):
    return [change.settings for change in searched(name, settings)[1]]


def ran(name, settings, change):
    """A deployment with a change, what it gives, and whether it runs."""
    again = catalogue.load_scenario(name, overrides=[
        *settings, *(f"{key}={value}" for key, value in change.items())])
    found = calc.evaluate(again.inputs(), again.model.attention)
    return again, found, not reasons(again, found)


@pytest.mark.parametrize(("name", "settings"), SHORT)
def test_every_change_runs_when_it_is_set(name, settings):
    changes = searched(name, settings)[1]
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
    most = int(searched(R1, settings)[0].found["max_concurrency"])
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
    size = searched(name, settings)[0].inputs["block_size"]
    assert not any(ran(name, settings, {CONTEXT: tokens + size})[2] for tokens in told)


@pytest.mark.parametrize(("name", "settings"), [(PLAN, ()), MANY, (R1, ("precision=bf16",))])
def test_no_fewer_cards_suffice(name, settings):
    """Of smaller numbers no layout that an engine loads has room, in the precision asked for."""
    search, changes = searched(name, settings)
    scenario = search.scenario
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
    search, changes = searched(name, settings)
    chosen = search.cuts.index(cut_of(ran(name, settings, changes[0].settings)[0]))
    degrees = {key: np.array([cut.degrees[at] for cut in search.cuts[:chosen + 1]])
               for at, key in enumerate(DEGREES)}
    *before, room = calc.evaluate(search.inputs | degrees, search.attention)[HEADROOM]
    assert room >= search.margin > max(before)


def test_few_requests_are_half_of_the_best_at_least():
    search, changes = searched(AWQ, (f"{USERS}=3000",))
    degrees = {name: np.array([cut.degrees[at] for cut in search.cuts])
               for at, name in enumerate(DEGREES)}
    held = np.concatenate([np.broadcast_to(calc.evaluate(
        search.scenario.in_precision(precision).inputs() | degrees, "mla")["max_concurrency"],
        len(search.cuts)) for precision in search.precisions])
    assert changes[0].settings[USERS] == held[np.argmax(held >= held.max() / 2)]


@pytest.mark.parametrize("name", [PLAN, "s1-plan-c", "wide-lmsys-decode"])
def test_layouts_are_ordered_by_distance(name):
    """Those over a network come last, then those with more sizes moved, by more doublings."""
    search, _ = searched(name)
    degrees, asked = np.array([cut.degrees for cut in search.cuts]), search.cut.degrees
    widest = max(asked[0], int(search.scenario.node.devices_per_node.value))
    keys = list(zip(degrees[:, 0] > widest, (degrees != asked).sum(axis=1),
                    np.abs(np.log2(degrees / asked)).sum(axis=1).round(6), strict=True))
    assert keys == sorted(keys)
    assert search.cuts[0] == search.cut
    for cut in search.cuts:
        assert cut.tensor * cut.pipeline * cut.data == search.scenario.devices
        assert (cut.slices, cut.spares, cut.context, cut.drafts) == (
            search.cut.slices, search.cut.spares, search.cut.context, search.cut.drafts)
    assert search.subject.staged_groups  # where no prompts are prefilled beside decode


@pytest.mark.parametrize(("settings", "asked"), [
    ((), True), (("precision.logit=fp16",), True), (("precision=fp8-block",), False)])
def test_precisions_begin_with_the_one_asked_for(settings, asked):
    search, _ = searched(AWQ, settings)
    names, own = [precision.id for precision in search.precisions], search.scenario.precision
    assert len(set(names)) == len(names) > 1
    assert not search.subject.staged_groups
    assert (search.precisions[0] is own) is (own.id in names) is search.asked is asked
    reserve = search.scenario.device.runtime_reserve
    assert search.margin == float(reserve.high - reserve.value) > 0
