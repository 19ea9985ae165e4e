"""Whether a deployment is loaded and fits: one judge for everyone who asks, for one or many."""

import random
from dataclasses import replace

import numpy as np
import pytest

import calc
import catalogue
from calc.answer.nearest import AXES, layouts_of
from calc.capacity.growth import layouts
from calc.layouts.feasible import (
    MEMORY,
    OF_MEMORY,
    Judge,
    admitted,
    has_room,
    not_loaded,
    reasons,
)
from calc.layouts.layout import Sizes, divisors, enumerate_layouts
from calc.layouts.space import Space
from calc.searching.goal import load_goal
from calc.sweeping.plan import Sweep, planned
from catalogue import LayoutError
from catalogue.deployments.admission import (
    KINDS,
    LAID_OUT,
    OF_PRECISION,
    cut_of,
    known_to_run,
    problems,
    subject_of,
)
from catalogue.deployments.cuts import Cut
from notebooks.pages.calculators.layouts import SIZES, loaded

BASE, MODEL = "h200-r1-vllm-tp8", "deepseek-v3"
ENGINES = ("vllm@0.13.0", "vllm@0.11.0", "sglang@0.5.6.post2", "tensorrt-llm@1.0.0")
DEGREES = ("tensor", "pipeline", "data", "expert")
SEEDS = (2, 3, 4, 5, 7, 8, 13, 15, 20, 21, 23, 28)  # that together meet every kind of problem


def drawn(seed):
    """Overrides of a random deployment of whole servers."""
    draw = random.Random(seed)
    nodes = draw.choice((1, 2, 3, 4))
    tensor = draw.choice(divisors(8 * nodes))
    pipeline = draw.choice(divisors(8 * nodes // tensor)[:2])
    data = 8 * nodes // tensor // pipeline
    expert = draw.choice(divisors(tensor * data))
    copies = -256 % expert if draw.random() < 0.7 else 0
    return [f"cluster.nodes={nodes}", f"engine={draw.choice(ENGINES)}",
            f"precision={draw.choice(('fp8-block', 'bf16', 'w4a8-int8', 'q4-k-m-kt'))}",
            *(f"parallelism.{name}_parallel={size}" for name, size in zip(
                DEGREES, (tensor, pipeline, data, expert), strict=True)),
            f"parallelism.redundant_experts={copies}"]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_caller_gets_the_same_verdict(seed):
    """File, estimate, search, capacity, nearest change, sweep and calculators."""
    settings = drawn(seed)
    scenario = catalogue.load_scenario(BASE, overrides=settings, cut=False)
    subject, cut, cards = subject_of(scenario), cut_of(scenario), scenario.devices
    kinds = {problem.kind for problem in problems(subject, cut)}
    own = ("devices=nvidia-h200-sxm", f"cards.fewest={cards}", f"cards.most={cards}",
           f"precisions={scenario.precision.id}", f"engines={scenario.engine}",
           f"space.spares={cut.spares}", "space.chunks=8192", "space.drafts=0",
           "space.staged_groups=true", f"space.pipeline={cut.pipeline}", "limits.tpot=null")
    space = Space(load_goal("r1-80-users-h20", own))
    tried = {degrees for base in space.bases() for cells in space.cells(base)
             for degrees in zip(*(cells[name].tolist() for name in DEGREES), strict=True)}
    assert (cut.degrees in tried) == (not kinds and known_to_run(subject))
    assert (cut.degrees in layouts(scenario, cards)) == (not kinds - set(OF_PRECISION))
    kept = tuple(text for text in settings if "data_parallel" not in text)
    swept, = planned(Sweep(
        scenario=BASE, settings=kept, quantities=["tpot"],
        axes={"parallelism.data_parallel": str(cut.data)})).choices
    assert (swept.problem is not None) == bool(kinds)
    sizes = cut.tensor, min(cut.tensor, cut.expert)  # of more ranks each expert is whole
    if "division" not in kinds and {*sizes} <= set(SIZES) and scenario.precision.id != "q4-k-m-kt":
        tensor, expert = map(SIZES.index, sizes)
        assert bool(loaded(MODEL, scenario.precision.id)[tensor] >> expert & 1) == (
            "blocks" not in kinds)
    if kinds & set(LAID_OUT):
        with pytest.raises(LayoutError):
            catalogue.load_scenario(BASE, overrides=settings)
        return
    catalogue.load_scenario(BASE, overrides=settings)
    found = calc.evaluate(scenario.inputs(), "mla")
    given = [reason.kind for reason in reasons(scenario, found)]
    assert (given[:1] == [MEMORY]) == (MEMORY in given) == (not has_room(found))
    assert set(given) - {MEMORY} == kinds == {reason.kind for reason in not_loaded(scenario)}
    rows = layouts_of(scenario, scenario.devices, []).rows
    own = np.all([rows[axis] == getattr(cut, axis) for axis in AXES], axis=0)
    assert own.any() == (not kinds - {*OF_PRECISION, "blocks"})


@pytest.fixture(scope="module")
def table():
    """Layouts of up to three servers, with redundant experts and dealt caches."""
    return enumerate_layouts((8, 12, 16, 24), Sizes(
        spares=lambda ranks: (0, -256 % ranks), context=None))[0]


@pytest.fixture(scope="module")
def subject():
    return subject_of(catalogue.load_scenario(BASE))


@pytest.mark.parametrize(("precision", "first"), [
    ("fp8-block", {"engine", "servers"}), ("q4-k-m-kt", {"host_format"})])
def test_many_layouts_are_judged_as_each_is(subject, table, precision, first):
    """The first kind that refuses a layout is its reason."""
    subject = replace(subject, precision=catalogue.load_precision(precision))
    kinds = Judge().kinds(subject, table)
    order = list(KINDS)
    assert {order.index(kind) for kind in first} <= set(kinds.tolist())
    for row in random.Random(0).sample(range(len(kinds)), 100):
        one = {name: int(column[row]) for name, column in table.items() if name != "devices"}
        problem = next(problems(subject, Cut(**one)), None)
        assert kinds[row] == (-1 if problem is None else order.index(problem.kind))
    assert (admitted(subject, table) == (kinds < 0)).all()
    for kind in first:
        alone = Judge().kinds(subject, table, kinds=(kind,))
        assert set(alone.tolist()) <= {-1, order.index(kind)}


@pytest.mark.parametrize(("name", "settings"), [
    ("s0-scenario-1", ()), ("h200-r1-vllm-tp8", ("precision=bf16",)),
    ("h200-v32-sglang-mtp", ("workload.concurrency=9000", "workload.requests=9000")),
    ("wide-lmsys-decode", ("workload.concurrency=90000",)),
    ("minimax-m2.5-8xh20", ("workload.concurrency=20000",))])
def test_memory_reason_states_all_that_is_short(name, settings):
    """The parts and what else is held sum to the memory, which is short of the usable memory."""
    scenario = catalogue.load_scenario(name, overrides=settings)
    found = calc.evaluate(scenario.inputs(), scenario.model.attention)
    reason = reasons(scenario, found)[0]
    numbers = reason.numbers
    assert reason.kind == MEMORY
    assert {part: numbers[part] for part in OF_MEMORY} == {part: found[part] for part in OF_MEMORY}
    assert numbers["short"] == pytest.approx(numbers["memory_per_device"]
                                             - numbers["usable_memory"])
    assert numbers["copies"] == found["absorbed_copies_per_device"] + found["mtp_weights"]
    copied, buffered = (" copies" in reason.text["en"], "buffers" in reason.text["en"])
    assert (copied, buffered) == (numbers["copies"] > 0, numbers["exchange_buffers"] > 0)
