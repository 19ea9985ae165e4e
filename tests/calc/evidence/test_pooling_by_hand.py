"""How few systems borrow from many, by hand: weights, medians, the likelihood, and what is kept."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad

from calc.evidence import pooling
from calc.evidence.pooling import Estimates, Pooled, Residuals, chain, estimated, unlikely
from catalogue.deployments.knobs import NORMAL_90

X, Y = "concurrent/servers/A/x", "concurrent/servers/A/y"


def rows(system, errors, of=X, metric="tpot", explained=0.0):
    errors = np.asarray(errors, float)
    return Residuals(system, of, metric, errors, np.full(errors.shape, explained))


def density(error, down, up):
    """How likely one error is, but for a constant."""
    return np.exp(-unlikely(np.array([error]), np.array([down]), np.array([up]), np.ones(1)))


def mass(low, high, down, up):
    return quad(density, low, high, args=(down, up), epsabs=1e-10)[0]


# --- one row and one system ---------------------------------------------------------------------


def test_rows_scatter_by_their_median_distance_from_their_median():
    """Of 0, 1, 2, 3, 10 the distances from 2 are 2, 1, 0, 1, 8: their median is 1."""
    assert rows("s", [0, 1, 3, 10, 2]).scatter == pytest.approx(1 / 0.6744897501960817)


def test_the_load_stands_first_in_the_name_of_a_class():
    assert rows("s", [0.0], of="queued/servers/A/x").load == "queued"


@pytest.mark.parametrize(("down", "up"), [(0.2, 0.2), (0.1, 0.7), (0.9, 0.3)])
def test_all_errors_together_are_as_likely_whatever_the_sizes(down, up):
    """What a size gains near zero it loses farther out, or the widest would always be likeliest."""
    whole = mass(-np.inf, 0, down, up) + mass(0, np.inf, down, up)
    assert whole == pytest.approx(mass(-np.inf, 0, 1, 1) + mass(0, np.inf, 1, 1), rel=1e-6)


@pytest.mark.parametrize(("down", "up"), [(0.1, 0.7), (0.9, 0.3)])
def test_a_tenth_lies_beyond_the_end_of_either_side(down, up):
    """Of what is on a side, a fifth, as of a normal variable with that deviation."""
    beyond = mass(NORMAL_90 * up, np.inf, down, up), mass(-np.inf, -NORMAL_90 * down, down, up)
    sides = mass(0, np.inf, down, up), mass(-np.inf, 0, down, up)
    assert [out / side for out, side in zip(beyond, sides, strict=True)] == pytest.approx([0.2] * 2)
    assert sides[0] / sides[1] == pytest.approx(up / down)


def test_a_variable_of_student_with_four_degrees_of_freedom_by_hand():
    """Its 90% point is 1.5332, a normal one's 1.2816; (1 + t²/4)^-5/2, over the width of both."""
    heavy = 1.533206274058900 / NORMAL_90
    found = unlikely(np.array([-0.3, 0.6]), np.array([0.2, 0.1]), np.array([0.5, 0.3]),
                     np.array([3.0, 2.0]))
    by_hand = (3 * (np.log(0.7) + 2.5 * np.log(1 + (0.3 * heavy / 0.2) ** 2 / 4))
               + 2 * (np.log(0.4) + 2.5 * np.log(1 + (0.6 * heavy / 0.3) ** 2 / 4)))
    assert found == pytest.approx(by_hand)


@pytest.mark.parametrize(("values", "weights", "middle"), [
    ((4.0, 1.0, 2.0), (1, 1, 1), 2.0), ((7.0, 3.0), (1, 1), 5.0), ((20.0, 10.0), (1, 3), 12.5),
    ((10.0, 20.0), (3, 1), 12.5), ((10.0, 20.0), (1, 9), 19.0), ((5.0,), (0.2,), 5.0)])
def test_a_median_of_what_counts_more_and_less(values, weights, middle):
    """Each stands in the middle of its weight: 3 of 10 and 1 of 20 at 1.5 and 3.5."""
    assert pooling._median(values, weights) == pytest.approx(middle)


# --- a class ------------------------------------------------------------------------------------


ABOVE = Pooled(0.1, 0.2, 0.0)


@pytest.mark.parametrize(("far", "bound", "explained"), [
    (9.0, 0.6, 0.0), (-9.0, -0.3, 0.0), (9.0, 0.75, 0.15), (-9.0, -0.75, np.sqrt(0.0525))])
def test_an_error_counts_as_no_farther_than_three_deviations_of_the_class_above(
        far, bound, explained):
    """3 × 0.2 upwards, 3 × 0.1 downwards, with what ranges explain: 3 × √(0.2² + 0.15²)."""
    found, at_bound, inside = (estimated([(rows("s", [error], explained=explained), 1.0)], ABOVE)
                               for error in (far, bound, 0.9 * bound))
    assert (found.down, found.up) == pytest.approx((at_bound.down, at_bound.up), rel=1e-3, abs=1e-6)
    assert max(inside.down, inside.up) < 0.99 * max(found.down, found.up)
    assert estimated([(rows("s", [far]), 1.0)]).up > 0.9 or far < 0


def test_a_system_counts_once_however_many_rows_it_has():
    few = [(rows("one", [0.1, -0.4]), 0.5), (rows("two", [0.3]), 0.5)]
    many = [(rows("one", [0.1, -0.4] * 3), 0.5), (rows("two", [0.3] * 5), 0.5)]
    one, other = estimated(few), estimated(many)
    assert (one.down, one.up) == pytest.approx((other.down, other.up), rel=1e-2)


def test_the_scatter_of_a_class_is_that_of_systems_with_rows_to_scatter():
    """0.1 counts 3 and 0.2 counts 1: 0.125; a single row says nothing."""
    unit = 0.6744897501960817
    found = estimated([(rows("one", [0, 0.1 * unit, 0.2 * unit]), 0.3),
                       (rows("two", [0, 0.2 * unit, 0.4 * unit]), 0.1),
                       (rows("three", [5.0]), 0.6)])
    assert found.within == pytest.approx(0.125)


def test_latency_rests_on_its_class_then_on_its_tokens_and_then_on_wider_classes():
    """Of two systems' worth that is borrowed each group leaves two thirds."""
    found = [rows("tokens of y", [0.0], Y), rows("latency of y", [0.0], Y, "e2e"),
             rows("tokens of x", [0.0]), rows("latency of x", [0.0], metric="e2e"),
             rows("first of x", [0.0], metric="ttft")]
    weights = {each.system: share for each, share in chain(found, X, "e2e", 2)}
    assert weights == pytest.approx({"latency of x": 1 / 3, "tokens of x": 2 / 9,
                                     "tokens of y": 4 / 27, "latency of y": 8 / 27})
    two = [*found, rows("more of x", [0.0], metric="e2e")]
    shares = {each.system: share for each, share in chain(two, X, "e2e", 2)}
    assert shares["more of x"] == shares["latency of x"] == pytest.approx(1 / 4)


def test_estimates_know_which_classes_and_quantities_they_have():
    found = Estimates([rows("one", [0.1]), rows("two", [0.2], Y, "e2e")], 2)
    assert set(found) == {X, Y, "concurrent/servers/A", "concurrent/servers", "concurrent", "all"}
    assert len(found) == 6
    assert list(found[X]) == ["tpot"]
    assert len(found["all"]) == 2
    assert "e2e" not in found[X]
    with pytest.raises(KeyError, match="e2e"):
        found[X]["e2e"]
    assert found[X]["tpot"] == estimated(chain(found.found, X, "tpot", 2),
                                         found["concurrent/servers/A"]["tpot"])


# --- which rows count, and what is kept ---------------------------------------------------------


@dataclass(frozen=True)
class Table:
    source: str
    blind: object = None


@dataclass(frozen=True)
class Measured:
    """A stand-in for a measured system: four rows, of which one has no value."""

    id: str
    scenario: SimpleNamespace
    loads: np.ndarray
    rows: dict

    def measured(self, metric):
        return np.array([0, 1, 3]) if metric == "tpot" else np.array([], int)


def system(name, table=None, devices=4):
    return Measured(name, SimpleNamespace(measured=table or Table(name), devices=devices),
                    np.array(["queued", "concurrent", "varying", "queued"]),
                    {"concurrency": np.array([8.0, 12.0, 1.0, 32.0])})


def test_a_source_of_which_anything_was_predicted_blind_takes_no_part():
    systems = [system("a", Table("one")), system("b", Table("two", blind=True)),
               system("c", Table("two")),
               SimpleNamespace(scenario=SimpleNamespace(measured=None))]
    assert [each.id for each in pooling.non_blind_systems(systems)] == ["a"]


def test_rows_stand_under_the_load_under_which_they_were_measured():
    found = [(load, rows.tolist()) for load, rows in pooling.by_load(system("a"), "tpot")]
    assert found == [("concurrent", [1]), ("queued", [0, 3])]
    assert list(pooling.by_load(system("a"), "ttft")) == []


@pytest.fixture
def as_predicted(monkeypatch):
    """Each row is predicted as 2 to 8, and was measured as 4, 16, -, 1."""
    def predicted(system, metric, own, rows):
        wide = 1 + bool(own)
        full = np.full(len(rows), 1.0)
        return SimpleNamespace(predicted=4 * full, low=4 / wide * full, high=8 * wide * full,
                               measured=np.array([4.0, 16.0, np.nan, 1.0])[rows])

    monkeypatch.setattr(pooling, "uncalibrated", predicted)
    monkeypatch.setattr(pooling, "class_of", lambda scenario: "servers/A/x")
    monkeypatch.setattr(pooling, "near", lambda *_: SimpleNamespace(distance=0.0))
    return predicted


def test_an_error_is_told_from_the_middle_of_what_ranges_explain(as_predicted):
    """In logarithms √(4 × 8); their deviation is a half of 4 to 8, which is 80% of them."""
    one, other = pooling.residuals([system("a")])
    assert (one.of, other.of) == ("concurrent/servers/A/x", "queued/servers/A/x")
    assert one.error == pytest.approx(np.log([16 / np.sqrt(32)]))
    assert other.error == pytest.approx(np.log([4 / np.sqrt(32), 1 / np.sqrt(32)]))
    assert other.explained == pytest.approx([np.log(2) / (2 * 1.2815515655446004)] * 2)
    assert other.requests.tolist() == [2.0, 8.0]


@pytest.mark.parametrize("made", [0.0, -1.0, np.nan, np.inf])
def test_what_is_no_positive_prediction_is_refused(as_predicted, monkeypatch, made):
    monkeypatch.setattr(pooling, "uncalibrated", lambda *_: SimpleNamespace(
        predicted=np.array([1.0, made]), low=np.ones(2), high=np.ones(2), measured=np.ones(2)))
    with pytest.raises(ValueError, match="'a' has no prediction of tpot for every row"):
        pooling.residuals([system("a")])


def test_of_every_class_the_rows_that_lie_inside_are_counted(as_predicted):
    """With its own error 2 to 16: of 16, at the end, and 4 and 1 the first two lie inside."""
    found = pooling.estimate([system("a"), system("b")], 2, {}, {})
    assert list(found.classes) == ["all", "concurrent", "concurrent/servers",
                                   "concurrent/servers/A", "concurrent/servers/A/x", "queued",
                                   "queued/servers", "queued/servers/A", "queued/servers/A/x"]
    counted = {name: (of["tpot"].systems, of["tpot"].rows, of["tpot"].inside)
               for name, of in found.classes.items()}
    assert counted["all"] == (2, 6, 4)
    assert counted["concurrent"] == counted["concurrent/servers/A/x"] == (2, 2, 2)
    assert counted["queued"] == (2, 4, 2)
    assert found.width["queued", "tpot"] == pytest.approx(8)
    assert found.left_out["a"].of == "servers/A/x"
    assert set(found.left_out["a"].deviation) == {"concurrent", "alone", "queued", "varying"}
    own = found.classes["queued"]["tpot"]
    whole = Estimates(pooling.residuals([system("a"), system("b")]), 2)["queued"]["tpot"]
    assert (own.down, own.up, own.within) == tuple(
        round(each, 4) for each in (whole.down, whole.up, whole.within))
