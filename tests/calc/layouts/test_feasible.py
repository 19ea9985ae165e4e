"""All who ask whether a deployment is loaded are told the same, on random deployments."""

import random

import numpy as np
import pytest

import calc
import catalogue
from calc.answer.nearest import Search
from calc.capacity.tables import layouts
from calc.layouts.enumerate import Sizes, divisors, enumerate_layouts
from calc.layouts.feasible import HEADROOM, MEMORY, Judge, has_room, reasons
from calc.layouts.space import AXES, Space
from calc.searching.load_goal import load_goal
from calc.sweeping.axes import axis
from calc.sweeping.definition import Sweep
from calc.sweeping.plan import planned
from catalogue import LayoutError
from catalogue.deployments.admission.rules import (
    KINDS,
    LAID_OUT,
    OF_PRECISION,
    cut_of,
    problems,
    subject_of,
)
from notebooks.pages.calculators.layouts import SIZES, divided, loaded

BASE = "h200-r1-vllm-tp8"
ENGINES = ("vllm@0.13.0", "vllm@0.11.0", "sglang@0.5.6.post2", "tensorrt-llm@1.0.0")
DEGREES = ("tensor", "pipeline", "data", "expert")


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


@pytest.fixture(scope="module", params=range(24))
def asked(request):
    """A deployment that may not be one, its overrides, and why it is not loaded."""
    settings = drawn(request.param)
    scenario = catalogue.load_scenario(BASE, overrides=settings, cut=False)
    found = {problem.kind for problem in problems(subject_of(scenario), cut_of(scenario))}
    return settings, scenario, found


def test_a_file_is_refused_where_it_cannot_be_laid_out(asked):
    settings, _, kinds = asked
    if kinds & set(LAID_OUT):
        with pytest.raises(LayoutError):
            catalogue.load_scenario(BASE, overrides=settings)
    else:
        catalogue.load_scenario(BASE, overrides=settings)


def test_an_estimate_tells_all_of_it_and_the_memory_besides(asked):
    _, scenario, kinds = asked
    if kinds & set(LAID_OUT):
        return
    found = calc.evaluate(scenario.inputs(), "mla")
    told = {reason.kind for reason in reasons(scenario, found)}
    assert told - {MEMORY} == kinds
    assert (MEMORY in told) == (not has_room(found))


def test_a_search_tries_what_is_loaded(asked):
    _, scenario, kinds = asked
    cut, cards = cut_of(scenario), scenario.devices
    space = Space(load_goal("r1-80-users-h20", [
        "devices=nvidia-h200-sxm", f"cards.fewest={cards}", f"cards.most={cards}",
        f"precisions={scenario.precision.id}", f"engines={scenario.engine}",
        f"space.spares={cut.spares}", "space.chunks=8192", "space.drafts=0",
        "space.staged_groups=true", f"space.pipeline={cut.pipeline}", "limits.tpot=null"]))
    tried = set()
    for base in space.bases():
        for cells in space.cells(base):
            tried |= set(zip(*(cells[name].tolist() for name in DEGREES), strict=True))
    assert (cut.degrees in tried) == (not kinds)


def test_growth_lays_out_what_is_loaded(asked):
    _, scenario, kinds = asked
    found = layouts(scenario, scenario.devices)
    assert (cut_of(scenario).degrees in found) == (not kinds - set(OF_PRECISION))


def test_the_nearest_change_is_sought_among_what_is_loaded(asked):
    _, scenario, kinds = asked
    if kinds & set(LAID_OUT):
        return
    search = Search(scenario, calc.evaluate(scenario.inputs(), "mla"))
    grid = search._grid([cut_of(scenario)], [scenario.precision])
    assert (grid[HEADROOM][0, 0] > -np.inf) == (not kinds)


def test_a_sweep_leaves_out_what_is_not_loaded(asked):
    settings, scenario, kinds = asked
    cut = cut_of(scenario)
    kept = [text for text in settings if "data_parallel" not in text]
    along = axis("parallelism.data_parallel", str(cut.data), "--axis")
    plan = planned(Sweep(BASE, (along,), tuple(kept), quantities=("tpot",)))
    choice, = plan.choices
    out = choice.problem is not None or bool(choice.cuts is not None and choice.cuts.any())
    assert out == bool(kinds)


def test_the_calculators_know_what_divides_and_what_holds_whole_blocks(asked):
    _, scenario, kinds = asked
    cut, model = cut_of(scenario), scenario.model.id
    if not {cut.tensor, cut.data, cut.expert} <= set(SIZES) or scenario.precision.id == "q4-k-m-kt":
        return
    tensor, data, expert = (SIZES.index(size) for size in (cut.tensor, cut.data, cut.expert))
    if cut.spares or 256 % cut.expert == 0:
        assert bool(divided(model)[tensor][data] >> expert & 1) == ("division" not in kinds)
    if "division" not in kinds:
        assert bool(loaded(model, scenario.precision.id)[tensor] >> expert & 1) == (
            "blocks" not in kinds)


def test_many_layouts_are_judged_as_each_is():
    scenario = catalogue.load_scenario(BASE)
    subject = subject_of(scenario)
    rows, _ = enumerate_layouts((8, 12, 16, 24),
                                Sizes(spares=lambda ranks: (0, -256 % ranks), context=None))
    kinds = Judge().kinds(subject, rows)
    order = list(KINDS)
    assert {-1, order.index("engine"), order.index("servers")} < set(kinds.tolist())
    draw = random.Random(0)
    for row in draw.sample(range(len(kinds)), 200):
        one = {name: int(column[row]) for name, column in rows.items() if name != "devices"}
        first = next(problems(subject, type(cut_of(scenario))(**one)), None)
        assert kinds[row] == (-1 if first is None else order.index(first.kind))
    assert set(AXES) >= set(rows)
