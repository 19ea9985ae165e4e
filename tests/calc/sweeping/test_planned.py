"""What a plan says of cuts that are none: the same of all that are alike, and how many rows."""

import numpy as np
import pytest

from calc.sweeping.axes import axis
from calc.sweeping.definition import Sweep
from calc.sweeping.plan import OTHER_DEVICES, planned
from catalogue import ParamsError

SCENARIO = "h200-r1-vllm-tp8"


def choice(*axes, settings=()):
    only, = planned(Sweep(SCENARIO, tuple(axis(name, values, name) for name, values in axes),
                          settings, quantities=("tpot",))).choices
    return only


def test_a_size_that_does_not_divide_the_model_is_told_by_its_name():
    """Of 128 heads neither three nor seven ranks have as many each, and both are told alike."""
    found = choice(("tensor_parallel", "1, 3, 8, 7"), ("workload.concurrency", "1, 2"),
                   settings=("parallelism.expert_parallel=1",))
    assert found.cut_axes == (0,)
    assert found.cuts.tolist() == [0, 1, 0, 1]
    assert found.problems == ("tensor_parallel does not divide the model",)
    assert found.columns["tensor_parallel"][1].tolist() == [1, 3, 8, 7]
    assert found.columns["concurrency"][0] == 1
    assert "tensor_parallel" not in found.fixed


def test_cards_follow_a_symbol_and_a_path_keeps_to_those_of_the_cluster():
    """Eight cards are one replica of eight ranks, or two of four."""
    cut = choice(("parallelism.tensor_parallel", "4, 8, 3"), ("parallelism.data_parallel", "1, 2"),
                 settings=("parallelism.expert_parallel=1",))
    assert cut.cut_axes == (0, 1)
    assert cut.cuts.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert cut.problems == (OTHER_DEVICES,)
    found = choice(("parallelism.decode_context_parallel", "1, 2, 3"))
    assert found.cuts.tolist() == [0, 0, 1]
    assert found.problems == ("decode_context_parallel does not fit",)
    assert choice(("workload.concurrency", "1, 2")).problems == ()


def test_what_a_choice_keeps_of_its_scenario():
    found = choice(("workload.concurrency", "1, 2"))
    assert found.attention == "mla"
    assert found.summed is True
    assert found.positions > 100_000
    stated = choice(("workload.concurrency", "1, 2"), settings=("workload.context_tokens=4096",))
    assert stated.summed is False
    asked = choice(("workload.concurrency", "1, 2"), settings=("workload.requests=9",))
    assert (asked.requests, asked.problem) == (9, None)


def test_two_axes_of_one_input_are_refused():
    with pytest.raises(ParamsError, match=r"'concurrency', as 'workload\.concurrency' does"):
        choice(("workload.concurrency", "1, 2"), ("parallelism.tensor_parallel+concurrency",
                                                  "8+1, 8+2"))


def test_what_an_outer_axis_says_of_an_input_symbol_holds_with_it():
    whole = planned(Sweep(SCENARIO, (axis("precision+hbm_efficiency", "bf16+0.5, fp8-block+0.25",
                                          ""),), quantities=("tpot",)))
    assert whole.outer == 1
    assert [each.fixed["hbm_efficiency"] for each in whole.choices] == [.5, .25]
    assert np.isfinite(whole.count)


@pytest.mark.parametrize(("more", "names"), [
    ({}, ("tpot",)), ({"objectives": {"ttft": -1}}, ("ttft", "tpot")),
    ({"objectives": {"tpot": -1}}, ("tpot",)), ({"every": True}, ("tpot",))])
def test_what_is_told_of_a_row_are_objectives_then_what_is_asked_besides(more, names):
    whole = planned(Sweep(SCENARIO, (axis("concurrency", "1, 2", ""),), quantities=("tpot",),
                          **more))
    usual = () if more else ("steady_tpot", "steady_ttft", "steady_throughput_per_device")
    assert whole.names == (*usual, *names)
    assert tuple(whole.objectives) == (usual or tuple(more.get("objectives") or ()))
    assert whole.axes[0].paths == ("workload.concurrency",)


@pytest.mark.parametrize(("axes", "free"), [
    ((("concurrency", "1, 2"),), False), ((("tensor_parallel", "8, 16"),), True)])
def test_a_format_that_a_card_does_not_multiply_is_none_whatever_the_cut(axes, free):
    """Of H20s, which have no units for four bits of NVFP4."""
    cards = ("device=nvidia-h20", "cluster.node=hgx-h20", "parallelism.expert_parallel=1")
    assert choice(*axes, settings=(*cards, "precision=fp8-block")).problem is None
    assert choice(*axes, settings=(*cards, "precision=nvfp4")).problem is not None
    assert bool(choice(*axes, settings=(*cards, "precision=fp8-block")).cut_axes) is free
