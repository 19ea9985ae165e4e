"""What leans, by hand: middles and positions on each scale, shifts in order, and what is told."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.uncertainty import leaning
from catalogue.deployments.knobs import NORMAL_90, Knob
from catalogue.reading.values import Value

SHIFT = math.sqrt(2 / math.pi) / 2 / NORMAL_90  # half the mean size of a normal variable's move


def value(low, at, high, unit="s"):
    return Value(at, unit, str(at), "made up", "assumed", low, high)


def knob(name, low=0.5, at=1.0, high=2.0, symbols=None):
    return Knob(name, value(low, at, high), symbols or (name,))


@pytest.mark.parametrize(("low", "high", "unit", "middle"), [
    (0.5, 0.9, "1", 0.75),  # odds of 1 and 9: of 3
    (0.2, 0.8, "1", 0.5), (0.2, 0.8, "s", 0.4), (0.25, 1.0, "1", 0.5), (1.0, 16.0, "1", 4.0),
    (0.3, 0.3, "1", 0.3), (0.0, 4.0, "s", 2.0), (0.0, 0.5, "1", 0.25), (-1.0, 4.0, "s", 1.5)])
def test_the_middle_of_a_range_is_that_of_its_scale(low, high, unit, middle):
    assert leaning.middle(value(low, low, high, unit)) == pytest.approx(middle)


@pytest.mark.parametrize(("low", "at", "high", "unit", "position"), [
    (0.5, 0.75, 0.9, "1", 0.5), (0.25, 0.5, 1.0, "1", 0.5), (1.0, 2.0, 16.0, "s", 0.25),
    (0.0, 1.0, 4.0, "s", 0.25), (-1.0, 0.0, 3.0, "s", 0.25), (0.1, 0.5, 0.9, "1", 0.5),
    (0.2, 0.4, 0.8, "s", 0.5)])
def test_a_position_is_told_on_the_scale_of_the_middle(low, at, high, unit, position):
    assert leaning.position(value(low, at, high, unit)) == pytest.approx(position)


@pytest.mark.parametrize(("found", "at", "share"), [
    ([1.0, 2.0, 2.0, 3.0, 9.0], 2.0, 0.4), ([1.0, 2.0], 3.0, 1.0), ([1.0, 2.0], 0.0, 0.0),
    (5.0, 5.0, 0.5)])
def test_a_percentile_counts_what_is_equal_half(found, at, share):
    assert leaning.percentile(np.array(found), at) == share


@pytest.fixture
def seen(monkeypatch):
    """A time that goes with the square of one input and the inverse of another; a constant."""
    calls = []

    def evaluate(points, attention):
        calls.append((points, attention))
        return {"tpot": np.asarray(points["a"]) ** 2 / points["b"], "output_throughput": 7.0,
                "ttft": points["a"] + 0 * np.asarray(points["b"]), "e2e": 1 / points["b"]}

    monkeypatch.setattr(leaning, "evaluate", evaluate)
    return calls


def test_each_input_is_moved_alone_and_the_largest_shift_is_first(seen):
    """a by half and three times, squared; b by half and twice upside down: no shift."""
    knobs = [knob("b", 0.5, 1.0, 2.0), knob("a", 0.5, 1.0, 3.0, ("a", "also"))]
    found = leaning.leaning({"a": 1.0, "b": 1.0, "also": 1.0}, knobs, "mla",
                            ["tpot", "output_throughput"])
    first, second = found["tpot"]
    assert (first.knob.name, second.knob.name) == ("a", "b")
    assert (first.down, first.up, first.middle) == pytest.approx((
        2 * math.log(0.5), 2 * math.log(3), math.log(1.5)))
    assert first.shift == pytest.approx(SHIFT * 2 * math.log(1.5))
    assert (second.down, second.up, second.middle, second.shift) == pytest.approx(
        (math.log(2), -math.log(2), 0, 0))
    assert [lean.shift for lean in found["output_throughput"]] == [0, 0]
    points, attention = seen[0]
    assert attention == "mla"
    assert points["b"].tolist() == [1.0, 0.5, 2.0, 1.0, 1.0, 1.0, 1.0]
    assert points["a"] == pytest.approx([1.0, 1.0, 1.0, 1.0, 0.5, 3.0, math.sqrt(1.5)])
    assert points["also"] is points["a"]


def test_inputs_are_drawn_from_their_priors_and_one_prior_moves_all_its_inputs(seen):
    knobs = [knob("a", 0.5, 1.0, 3.0, ("a", "also")), knob("b")]
    leaning.sampled({"a": 1.0, "b": 1.0, "also": 1.0, "kept": 5.0}, knobs, "gqa", 20_000)
    (drawn, attention), = seen
    assert (attention, drawn["kept"]) == ("gqa", 5.0)
    assert np.quantile(drawn["a"], [0.1, 0.5, 0.9]) == pytest.approx([0.5, 1.0, 3.0], rel=0.05)
    assert np.quantile(drawn["b"], [0.1, 0.5, 0.9]) == pytest.approx([0.5, 1.0, 2.0], rel=0.05)
    assert drawn["also"] is drawn["a"]
    assert abs(np.corrcoef(drawn["a"], drawn["b"])[0, 1]) < 0.05


@pytest.mark.parametrize(("separate", "answer", "names"), [
    (0, 100, {"tpot", "output_throughput", "ttft", "e2e"}),
    (1, 100, {"tpot", "output_throughput"}), (0, None, {"tpot", "output_throughput"})])
def test_a_deployment_is_told_by_quantity_with_the_three_inputs_that_shift_it_most(
        seen, separate, answer, names):
    knobs = [knob("b", 0.5, 1.0, 16.0), knob("a", 0.25, 1.0, 2.0), knob("c"), knob("d")]
    scenario = SimpleNamespace(
        inputs=lambda: {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "separate_pools": separate},
        knobs=lambda: knobs, model=SimpleNamespace(attention="mla"),
        file=SimpleNamespace(workload=SimpleNamespace(output_tokens=answer)))
    found = leaning.of_deployment(scenario)
    assert set(found) == names
    told = found["tpot"]["knobs"]
    assert [each["name"] for each in told] == ["b", "a", "c"]
    # down by 16, up by 2: of the logarithm -3 log 2 in all
    assert told[0] == {"name": "b", "value": 1.0, "low": 0.5, "high": 16.0,
                       "shift": pytest.approx(-SHIFT * 3 * math.log(2)),
                       "position": pytest.approx(0.2)}
    assert told[1]["shift"] == pytest.approx(-SHIFT * 2 * math.log(2))
    assert found["output_throughput"]["percentile"] == 0.5
    assert found["tpot"]["percentile"] == pytest.approx(0.5, abs=0.2)
