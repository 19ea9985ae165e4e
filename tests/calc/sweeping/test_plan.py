"""What a plan computes: layouts that are none, rows by number, keys of parts."""

import numpy as np
import pytest

from calc.sweeping.axes import axis
from calc.sweeping.definition import Sweep
from calc.sweeping.plan import OTHER_DEVICES, PLAIN, planned
from catalogue import ParamsError

SCENARIO = "h200-r1-vllm-tp8"
NARROW = ("parallelism.expert_parallel=1",)
UNDIVIDED = ("tensor_parallel does not divide the model",)


def plan_of(*axes, settings=(), **more):
    return planned(Sweep(SCENARIO, tuple(axis(name, values, f"--axis {name}")
                                         for name, values in axes),
                         settings, **{"quantities": ("tpot",)} | more))


def choice(*axes, settings=()):
    only, = plan_of(*axes, settings=settings).choices
    return only


def test_rows_are_numbered_with_the_last_axis_fastest():
    plan = plan_of(("concurrency", "3, 5, 7, 9"), ("precision", "fp8-block, w4a16-awq, w8a8-int8"),
                   chunk=5)
    assert (plan.shape, plan.count, plan.chunks, plan.outer) == ((3, 4), 12, 3, 1)
    assert plan.settings(6) == {"precision": "w4a16-awq", "workload.concurrency": "7"}
    assert plan.settings(11) == {"precision": "w8a8-int8", "workload.concurrency": "9"}


def test_a_size_that_does_not_divide_the_model():
    """Of 128 heads neither three nor seven ranks have as many each."""
    result = choice(("tensor_parallel", "1, 3, 8, 7"), ("workload.concurrency", "1, 2"),
                    settings=NARROW)
    assert result.cut_axes == (0,)
    assert result.cuts.tolist() == [0, 1, 0, 1]
    assert result.problems == UNDIVIDED
    assert result.columns["tensor_parallel"][1].tolist() == [1, 3, 8, 7]
    assert "tensor_parallel" not in result.fixed


def test_a_path_keeps_the_cards_of_the_cluster():
    """Eight cards are one replica of eight ranks, or two of four."""
    result = choice(("parallelism.tensor_parallel", "4, 8, 3"),
                    ("parallelism.data_parallel", "1, 2"), settings=NARROW)
    assert result.cuts.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert result.problems == (OTHER_DEVICES,)
    assert choice(("parallelism.decode_context_parallel", "1, 2, 3")).problems == (
        "decode_context_parallel does not fit",)


@pytest.mark.parametrize("axes", [("concurrency", "1, 2"), ("tensor_parallel", "8, 16")])
def test_a_format_that_a_card_does_not_multiply(axes):
    """H20s have no units for the four bits of NVFP4."""
    cards = ("device=nvidia-h20", "cluster.node=hgx-h20", *NARROW)
    assert choice(axes, settings=(*cards, "precision=fp8-block")).problem is None
    assert choice(axes, settings=(*cards, "precision=nvfp4")).problem is not None


def test_an_input_symbol_on_an_axis_of_entries():
    plan = plan_of(("precision+hbm_efficiency", "bf16+0.5, fp8-block+0.25"))
    assert plan.outer == 1
    assert [each.fixed["hbm_efficiency"] for each in plan.choices] == [.5, .25]


@pytest.mark.parametrize(("more", "names"), [
    ({}, ("steady_tpot", "steady_ttft", "steady_throughput_per_device", "tpot")),
    ({"objectives": {"ttft": -1}}, ("ttft", "tpot")), ({"every": True}, ("tpot",))])
def test_quantities_of_a_row_are_objectives_then_the_others(more, names):
    assert plan_of(("concurrency", "1, 2"), **more).names == names


def test_two_axes_of_one_input():
    with pytest.raises(ParamsError, match=r"'concurrency', as 'workload\.concurrency' does"):
        plan_of(("workload.concurrency", "1, 2"),
                ("parallelism.tensor_parallel+concurrency", "8+1, 8+2"))


def test_most_rows():
    wide = [(name, "1..1000") for name in PLAIN if name != "memory_utilization"]
    with pytest.raises(ParamsError, match=r"^the axes have .* combinations, expected at most"):
        plan_of(*wide)
    with pytest.raises(ParamsError, match="combinations of entries to load, expected at most"):
        plan_of(("device", "1..400"), ("engine", "1..400"))


def test_the_key_is_of_all_that_determines_the_numbers():
    base = {"axes": [("precision", "fp8-block, w4a16-awq"), ("concurrency", "1..4")]}
    keys = [plan_of(*(each := base | changed).pop("axes"), **each).key for changed in (
        {}, {"chunk": 99}, {"quantities": ("ttft",)}, {"axes": base["axes"][1:]}, {"every": True},
        {"objectives": {"tpot": -1}}, {"settings": ("device.memory_bandwidth=4 TB/s",)})]
    assert len(set(keys)) == len(keys)
    assert plan_of(base["axes"][0], ("workload.concurrency", [1, "2..4"])).key == keys[0]


@pytest.mark.parametrize("name", PLAIN)
def test_an_input_of_the_workload_and_its_path_are_one_axis(name):
    written = {"memory_utilization": "0.8, 0.9", "context_tokens": "20000, 30000"}.get(
        name, "16, 32")
    one, other = (plan_of((path, written)) for path in (name, f"workload.{name}"))
    assert one.key == other.key
    assert np.prod(one.shape) == 2
