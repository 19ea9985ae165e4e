"""How a quantity answers to its inputs, of laws whose powers are known."""

import math
from types import SimpleNamespace as Made

import numpy as np
import pytest

from calc.sensitivity import elasticities as module
from calc.sensitivity.elasticities import answers_of, continuous
from calc.sensitivity.paths import GROUPS
from calc.sensitivity.plans import plan_of
from catalogue import ParamsError
from catalogue.entries.formulas import input_symbols
from reference.plans import knob, law

SHAPE = {"concurrency": 7.0, "input_tokens": 300.0, "output_tokens": 2.0,
         "max_num_batched_tokens": 1.0, "context_tokens": 311.0, "data_parallel": 1.0}


def arc(label, name="tpot", tokens=100, **laws):
    return module._arc(law(SHAPE, tokens=tokens, **laws), label, name)


@pytest.fixture(autouse=True)
def straight(monkeypatch):
    """A path that moves a count alone, up to four times of it."""
    def path_of(plan, label, between):
        assert between == f"1,{4 * plan.inputs[label]:.0f}"
        return Made(moves=lambda plan, values: {label: values})

    monkeypatch.setattr(module, "path_of", path_of)


def test_an_arc_goes_from_half_of_a_count_to_twice():
    """Of 7 from 4, whole, to 14. Where a power is the law, it is the elasticity."""
    found = arc("concurrency", tpot=lambda at: 3 * at.concurrency**0.4)
    assert (found.name, found.symbols, found.value, found.arc) == (
        "concurrency", ("concurrency",), 7, True)
    assert found.elasticity == pytest.approx(0.4)
    line = arc("concurrency", tpot=lambda at: at.concurrency + 1)
    assert line.elasticity == pytest.approx(math.log(15 / 5) / math.log(14 / 4))
    two = arc("output_tokens", tpot=lambda at: at.output_tokens + 1)
    assert two.elasticity == pytest.approx(math.log(5 / 2) / math.log(4))


def test_an_arc_of_what_may_be_negative_is_in_its_unit():
    found = arc("concurrency", "headroom_per_device",
                headroom_per_device=lambda at: 8 - 2 * at.concurrency)
    assert found.elasticity == pytest.approx(-20 / math.log(14 / 4))


@pytest.mark.parametrize("told", [
    lambda at: 0 * at.concurrency + 5, lambda at: np.maximum(0, 14 - at.concurrency),
    lambda at: np.maximum(0, at.concurrency - 4)])
def test_there_is_no_arc_of_what_does_not_move_or_is_nothing_at_an_end(told):
    assert arc("concurrency", tpot=told) is None


def test_one_cannot_be_halved_and_lengths_that_nobody_states_do_not_move():
    laws = {"tpot": lambda at: at.max_num_batched_tokens + at.input_tokens + at.concurrency}
    assert arc("max_num_batched_tokens", **laws) is None
    assert arc("input_tokens", tokens=None, **laws) is None
    assert arc("input_tokens", **laws) is not None
    assert arc("concurrency", tokens=None, **laws) is not None


# --- all of them ----------------------------------------------------------------------------------

SLOPES = {"memory_bandwidth": -0.5, "pair_bandwidth": 0.125, "device_link_bandwidth": 0.25,
          "prefix_hit_share": 0.2, "kv_imbalance": 0.75, "network_bandwidth": 0.0,
          "multiply_add_flops": 0.9, "first": -0.25, "second": -0.5}


def told(monkeypatch, name, value=2.0):
    """Of a deployment in which no count moves anything."""
    asked = []
    monkeypatch.setattr(module, "elasticities", lambda inputs, attention, names: asked.append(
        names) or {names[0]: dict(SLOPES)})
    knobs = [knob("both", 1, 2, 3, "first", "second"), knob("concurrency", 1, 2, 3)]
    quantities = dict.fromkeys(("tpot", "output_throughput", name),
                               lambda at: value + 0 * (at.concurrency + at.input_tokens
                                                       + at.output_tokens))
    plan = law(SHAPE | dict.fromkeys(SLOPES, 3.0) | {"first": 5.0, "pair_bandwidth": 7.0},
               knobs, **quantities)
    plan.scenario.model = Made(attention="mla")
    return answers_of(plan, name), asked


@pytest.mark.parametrize(("name", "asked", "sign"), [
    ("tpot", "tpot", 1), ("card_hours", "output_throughput", -1),
    ("throughput_per_card", "output_throughput", 1)])
def test_what_is_one_thing_is_summed_and_the_strongest_stands_first(
        monkeypatch, name, asked, sign):
    """What is no knob here is not at work, and nobody changes what a multiply-add counts."""
    found, seen = told(monkeypatch, name)
    assert seen == [[asked]]
    assert [(one.name, one.symbols, one.value, one.elasticity) for one in found] == [
        ("both", ("first", "second"), 5, -0.75 * sign),
        ("memory_bandwidth", ("memory_bandwidth",), 3, -0.5 * sign),
        ("link_bandwidth", GROUPS["link_bandwidth"], 7, 0.375 * sign),
        ("prefix_hit_share", ("prefix_hit_share",), 3, 0.2 * sign)]


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_of_nothing_there_is_no_per_cent(monkeypatch, value):
    with pytest.raises(ParamsError, match="it is 0 for 'law'"):
        told(monkeypatch, "tpot", value)
    assert told(monkeypatch, "headroom_per_device", value)[0]


def test_inputs_that_take_values_in_between():
    """Rates, times and bytes, mechanisms and shares, but nothing that is zero; no shape, no cut."""
    inputs = dict(plan_of("s2-910b1-awq").inputs)
    shared = {"prefix_hit_share", "memory_utilization", "hbm_efficiency", "load_overlap",
              "memory_bandwidth", "memory_capacity"}
    never = {"tensor_parallel", "hidden_size", "concurrency", "num_hidden_layers", "captured",
             "block_size"}
    every = continuous(dict.fromkeys(inputs, 0.5))
    assert every == sorted(every)
    assert shared <= set(every)
    assert not never & set(every)
    assert set(every) <= set(input_symbols())
    assert continuous(dict.fromkeys(inputs, 0.0)) == []
    assert "prefix_hit_share" not in continuous(inputs)


def test_the_room_of_a_device_by_hand():
    """All of memory but what the system keeps, times its share: the slopes of each."""
    plan = plan_of("s2-910b1-awq")
    names = ["headroom_per_device", "free_for_kv_per_device", "memory_per_device"]
    found = module.elasticities(plan.inputs, "mla", names)
    share, room, kept = (plan.inputs[name] for name in (
        "memory_utilization", "memory_capacity", "system_reserve"))
    for name in names[:2]:
        assert found[name]["memory_capacity"] == pytest.approx(share * room, rel=1e-9)
        assert found[name]["memory_utilization"] == pytest.approx(
            share * (room - kept), rel=1e-9)
    # of what is never negative in per cent of itself
    assert found["memory_per_device"]["memory_capacity"] == pytest.approx(0, abs=1e-9)
    assert list(found) == names


def test_a_quantity_that_is_of_neither_is_refused():
    with pytest.raises(ValueError, match="no elasticity of 'steady_tpot'"):
        module.elasticities(plan_of("s2-910b1-awq").inputs, "mla", ["tpot", "steady_tpot"])
