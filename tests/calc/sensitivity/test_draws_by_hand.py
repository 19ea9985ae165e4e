"""What ranges of inputs do to a quantity that is a law written down: draws, bars, indices."""

import math
from types import SimpleNamespace as Made

import numpy as np
import pytest

from calc.sensitivity import sampling, sensitivity, tornado
from calc.sensitivity.tornado import OWN, Bar, Tornado, own_sides
from catalogue import ParamsError
from catalogue.deployments.knobs import NORMAL_90
from reference.plans import knob, law

SIDES = {"tpot": (0.1, 0.3), "output_throughput": (0.2, 0.5)}


@pytest.fixture(autouse=True)
def own(monkeypatch):
    """The formulas' own error: of two classes, of which a row's part is told."""
    def errors(scenario):
        of = "one" if scenario.devices < 100 else "other"
        return {name: Made(sides=sides, within=0.15, of=of) for name, sides in SIDES.items()}

    monkeypatch.setattr(tornado, "own_errors", errors)


@pytest.mark.parametrize(("name", "sides"), [
    ("tpot", (0.1, 0.3)), ("steady_tpot", (0.1, 0.3)), ("output_throughput", (0.2, 0.5)),
    ("steady_throughput", (0.2, 0.5)), ("throughput_per_card", (0.2, 0.5)),
    ("card_hours", (0.5, 0.2)), ("headroom_per_device", (0.0, 0.0)), ("ttft", (0.0, 0.0))])
def test_whose_own_error_a_quantity_has(name, sides):
    assert own_sides(law({}), name) == sides
    expected = (sides, 0.15, "one") if any(sides) else None
    assert sampling._own(law({}), name) == (expected or ((0.0, 0.0), 0.0, ""))


# --- alone ----------------------------------------------------------------------------------------


def test_bars_by_hand():
    """2a + b² + 0c at a = 3, b = 5: the widest first, what moves nothing left out."""
    plan = law({"a": 3.0, "b": 5.0, "b2": 5.0, "c": 7.0},
               [knob("a", 1.0, 3.0, 4.0, unit="s"), knob("b", 4.0, 5.0, 7.0, "b", "b2"),
                knob("c", 1.0, 7.0, 9.0)],
               tpot=lambda at: 2 * at.a + at.b * at.b2 + 0 * at.c)
    found = tornado.tornado(plan, "tpot")
    assert found.value == 31
    ends = math.exp(-NORMAL_90 * 0.1), math.exp(NORMAL_90 * 0.3)
    assert found.bars == (
        Bar("b", 5, 4, 7, 22, 55), Bar(OWN, 1.0, *ends, 31 * ends[0], 31 * ends[1]),
        Bar("a", 3, 1, 4, 27, 33, "s"))
    told = found.as_json()
    assert (told["value"], told["bars"][0]["swing"], told["bars"][2]["swing"]) == (31, 33, 6)


def test_without_ranges_only_the_own_error_is_a_bar():
    assert [bar.name for bar in tornado.tornado(law({}, tpot=lambda at: 2.0), "tpot").bars] == [OWN]
    assert tornado.tornado(law({}, ttft=lambda at: 2.0), "ttft") == Tornado(2.0, ())


def test_a_range_to_one_side_of_a_value_is_a_bar():
    bars = tornado.tornado(law({"a": 3.0}, [knob("a", 3.0, 3.0, 4.0)], ttft=lambda at: -at.a),
                           "ttft").bars
    assert [(bar.at_low, bar.at_high, bar.swing) for bar in bars] == [(-3, -4, 1)]


# --- draws ----------------------------------------------------------------------------------------


def test_plans_share_inputs_of_the_same_range_and_the_error_of_their_class():
    """Of two plans a class's error is shared but for what a row has of it alone, 0.15 at most."""
    same, first, second = (knob("same", 1, 2, 3), knob("mine", 1, 2, 3), knob("mine", 1, 2, 4))
    one = law({}, [same, first], label="one")
    two = law({}, [second, same], label="two")
    found = sampling.priors([one, two], "tpot")
    assert found.names == ("same", "mine (1)", "mine (2)", "own_error of one", "own_error of one",
                           "own_error of two")
    assert found.knobs == (((0, same), (1, first)), ((2, second), (0, same)))
    shared = pytest.approx(0), pytest.approx(math.sqrt(0.3**2 - 0.15**2))
    assert found.own == (((3, shared), (4, (0.1, 0.15))), ((3, shared), (5, (0.1, 0.15))))


def test_of_one_plan_nothing_is_alone_and_of_two_classes_nothing_is_shared():
    single = sampling.priors([law({}, [knob("a", 1, 2, 3)])], "tpot")
    assert (single.names, single.own) == (("a", OWN), (((1, (0.1, 0.3)),),))
    assert sampling.priors([law({})], "ttft") == sampling.Priors((), ((),), ((),))
    pair = sampling.priors([law({}, label="x"), law({}, label="y", cards=200)], "tpot")
    assert pair.names == ("own_error of one", "own_error of x", "own_error of other",
                          "own_error of y")
    assert [[column for column, _ in parts] for parts in pair.own] == [[0, 1], [2, 3]]


def test_the_own_error_stretches_either_side():
    scores = np.array([[-2.0, 1.0], [0.0, 0.0], [2.0, -1.0]])
    found = sampling.own_factor(((0, (0.1, 0.3)), (1, (0.5, 0.7))), scores)
    assert found == pytest.approx(np.exp([-0.2 + 0.7, 0, 0.6 - 0.5]))
    assert sampling.own_factor((), scores).tolist() == [1, 1, 1]


def test_a_quantity_in_draws_and_along_a_path():
    """a·x: a is drawn, x is given; the own error is the draw's, at each point of the path."""
    moved = knob("a", 1.0, 2.0, 4.0)
    plan = law({"a": 2.0, "x": 10.0}, tpot=lambda at: at.a * at.x)
    scores = np.array([[-NORMAL_90, 0.0], [NORMAL_90, 1.0], [0.0, -1.0]])
    own = ((1, (0.1, 0.3)),)
    factor = np.exp([0, 0.3, -0.1])
    drawn = np.array([1.0, 4.0, 2.0])
    alone = sampling.sample_quantity(plan, ((0, moved),), own, scores, "tpot")
    assert alone == pytest.approx(10 * drawn * factor)
    given = {"x": np.array([3.0, 5.0])}
    along = sampling.sample_quantity(plan, ((0, moved),), own, scores, "tpot", given)
    assert along == pytest.approx(np.outer(drawn * factor, [3, 5]))
    # of an input that moves along the path and is drawn, the draw counts
    both = sampling.sample_quantity(plan, ((0, moved),), (), scores, "tpot",
                                    given | {"a": np.array([7.0, 9.0])})
    assert both == pytest.approx(np.outer(drawn, [3, 5]))
    still = sampling.sample_quantity(law({}, tpot=lambda at: 5.0), (), own, scores, "tpot")
    assert still == pytest.approx(5 * factor)


def test_each_plan_is_asked_with_its_own_columns():
    one, two = (law({"a": 2.0, "x": 1.0}, tpot=law_) for law_ in (
        lambda at: at.a + at.x, lambda at: 100 * at.a + at.x))
    moved = knob("a", 1.0, 2.0, 4.0)
    found = sampling.Priors(("a", "b"), (((0, moved),), ((1, moved),)), ((), ()))
    scores = np.array([[-NORMAL_90, NORMAL_90]])
    assert [each.tolist() for each in sampling.sample_each((one, two), found, scores, "tpot")] == [
        [2], [pytest.approx(401)]]
    along = sampling.sample_each((one, two), found, scores, "tpot",
                                 lambda plan: {"x": np.array([5.0 if plan is one else 7.0])})
    assert np.ravel(along) == pytest.approx([6, 407])


def test_a_mechanism_sets_all_its_inputs():
    moves = sampling.moves_of(((1, knob("a", 1.0, 2.0, 4.0, "b", "c")),),
                              np.array([[0, NORMAL_90], [0, 0]]))
    assert {name: values.tolist() for name, values in moves.items()} == {
        "b": [pytest.approx(4), 2], "c": [pytest.approx(4), 2]}


def test_scores_are_those_of_shares_and_finite_at_the_ends():
    found = sampling.scored(np.array([0.0, 0.1, 0.5, 0.9, 1.0]))
    assert found[1:4] == pytest.approx([-NORMAL_90, 0, NORMAL_90])
    assert found[0] == pytest.approx(-found[4], rel=1e-3)
    assert 8 < found[4] < 9
    even = sampling.scores_of(2, 256)
    assert even.shape == (256, 2)
    assert ((even > 0).sum(axis=0) == 128).all()


# --- in company -----------------------------------------------------------------------------------


@pytest.mark.parametrize("samples", [32, 96, 65, 1 << 17])
def test_a_design_is_a_power_of_two_from_sixty_four_on(samples):
    with pytest.raises(ParamsError, match=f"--samples {samples}: expected a power of two from 64 "):
        sensitivity.sensitivities(law({}), "ttft", [64, samples])


def indices(quantity, samples=64, name="ttft", **ranges):
    knobs = [knob(each, *ends) for each, ends in ranges.items()]
    plan = law({each: ends[1] for each, ends in ranges.items()}, knobs, **{name: quantity})
    return sensitivity.sensitivity(plan, name, samples)


def test_what_alone_moves_a_quantity_explains_all_of_it():
    """Of a positive one in its logarithm: a range from 1/e to e of it is 1/1.28 in deviations."""
    found = indices(lambda at: 5 * at.a + 0 * at.b, 256, a=(1 / math.e, 1.0, math.e), b=(1, 2, 3))
    assert [one.name for one in found.indices] == ["a", "b"]
    assert (found.samples, found.evaluations, found.in_log) == (256, 256 * 4, True)
    assert found.deviation == pytest.approx(1 / NORMAL_90, rel=0.02)
    first, second = found.indices
    assert (first.first, first.total) == pytest.approx((1, 1), abs=0.03)
    assert (second.first, second.total, second.total_error) == (0, 0, 0)
    assert found.as_json()["indices"][0]["name"] == "a"


def test_of_what_may_be_negative_the_deviation_is_its_own():
    """a - 1 of 1/e to e is below zero in a half of the draws: the same as of 3 (a - 1), but 3×."""
    one, three = (indices(lambda at, by=by: by * (at.a - 1), a=(1 / math.e, 1.0, math.e))
                  for by in (1, 3))
    assert (one.in_log, three.in_log) == (False, False)
    assert three.deviation == pytest.approx(3 * one.deviation)
    assert one.deviation > 1 / NORMAL_90


def test_what_nothing_moves_or_has_no_value_is_refused():
    with pytest.raises(ParamsError, match="no range of an input moves ttft of 'law'"):
        indices(lambda at: 0 * at.a + 1, a=(1, 2, 3))
    with pytest.raises(ParamsError, match="ttft of 'law' has no value at the far ends"):
        indices(lambda at: np.where(at.a > 2.9, np.nan, at.a), a=(1, 2, 3))


def test_a_smaller_design_is_the_beginning_of_a_larger():
    plan = law({"a": 1.0, "b": 1.0}, [knob("a", 0.5, 1, 2), knob("b", 0.1, 1, 2)],
               ttft=lambda at: at.a * at.b)
    small, large = sensitivity.sensitivities(plan, "ttft", [64, 128])
    assert (small.samples, large.samples) == (64, 128)
    assert small == sensitivity.sensitivities(plan, "ttft", [64])[0]
