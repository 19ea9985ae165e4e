"""The formulas' own error by class: how few systems borrow from many, and what is stored."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

import catalogue
from calc.commands.evidence.discrepancy import with_estimates
from calc.evidence import classes, pooling, protocols, validation
from calc.evidence.pooling import Estimates, Pooled, Residuals, chain, estimated, unlikely
from catalogue.deployments.knobs import NORMAL_90

A, B = "concurrent/servers/A", "concurrent/servers/B"
UNIT = 0.6744897501960817  # median distance of a normal variable, in deviations
K = 2  # systems that are borrowed


def rows(system, of, errors, metric="tpot", ranges=0.0):
    errors = np.asarray(errors, float)
    return Residuals(system, of, metric, errors, np.full(errors.shape, ranges))


def drawn(of, size, count=200, seed=1, ranges=0.0, within=0.0):
    """Systems of a class whose 15 rows share a normal error."""
    draw = np.random.default_rng(seed)
    return [rows(f"{of}-{i}", of, draw.normal(0, math.hypot(size, ranges))
                 + draw.normal(0, within, 15), "tpot", ranges) for i in range(count)]


def of_class(found, name, metric="tpot", borrowed=K):
    return Estimates(found, borrowed)[name][metric]


# --- the likelihood -------------------------------------------------------------------------------


@pytest.mark.parametrize(("down", "up"), [(0.1, 0.7), (0.9, 0.3)])
def test_likelihood_of_two_sided_errors(down, up):
    """All errors together are as likely whatever the sizes; of either side a fifth lies beyond its
    90% point, as of a normal variable with that deviation."""
    def mass(low, high, *sizes):
        return quad(lambda error: np.exp(-unlikely(np.array([error]), np.array([sizes[0]]),
                                                   np.array([sizes[1]]), np.ones(1))), low, high,
                    epsabs=1e-10)[0]

    sides = mass(0, np.inf, down, up), mass(-np.inf, 0, down, up)
    assert sum(sides) == pytest.approx(mass(-np.inf, 0, 1, 1) + mass(0, np.inf, 1, 1), rel=1e-6)
    assert sides[0] / sides[1] == pytest.approx(up / down)
    assert mass(NORMAL_90 * up, np.inf, down, up) / sides[0] == pytest.approx(0.2)
    assert mass(-np.inf, -NORMAL_90 * down, down, up) / sides[1] == pytest.approx(0.2)


def test_student_variable_with_four_degrees_of_freedom():
    """Its 90% point is 1.5332, a normal one's 1.2816; (1 + t²/4)^-5/2, over the width of both."""
    heavy = 1.533206274058900 / NORMAL_90
    found = unlikely(np.array([-0.3, 0.6]), np.array([0.2, 0.1]), np.array([0.5, 0.3]),
                     np.array([3.0, 2.0]))
    assert found == pytest.approx(
        3 * (np.log(0.7) + 2.5 * np.log(1 + (0.3 * heavy / 0.2) ** 2 / 4))
        + 2 * (np.log(0.4) + 2.5 * np.log(1 + (0.6 * heavy / 0.3) ** 2 / 4)))


# --- the estimate of a class ----------------------------------------------------------------------


@pytest.mark.parametrize("size", [0.1, 0.5])
def test_estimate_covers_four_fifths_of_many_rows(size):
    found = drawn(A, size)
    own, error = of_class(found, A), np.concatenate([each.error for each in found])
    inside = (-NORMAL_90 * own.down <= error) & (error <= NORMAL_90 * own.up)
    assert inside.mean() == pytest.approx(0.8, abs=0.06)
    assert own.down == pytest.approx(own.up, rel=0.3)
    other = of_class([rows(each.system, each.of, -each.error) for each in found], A)
    assert (own.down, own.up) == pytest.approx((other.up, other.down), rel=1e-2)


def test_what_ranges_explain_is_not_counted_twice():
    own = of_class(drawn(A, 0.4, ranges=0.3), A)
    assert [own.down, own.up] == pytest.approx([0.4, 0.4], rel=0.3)
    covered = of_class([rows(f"s{i}", A, [0.1], ranges=0.2) for i in range(3)], A)
    assert max(covered.down, covered.up) < 0.02


@pytest.mark.parametrize("beside", [0, 5])
def test_outlier_moves_its_class_by_a_bounded_amount(beside):
    around = [*drawn(f"{B}/x", 0.2, 9), *drawn("queued/servers/B/x", 0.2, 9, seed=3)]
    near, name = drawn(f"{A}/vllm", 0.2, beside, seed=2), f"{A}/vllm"
    sizes = [of_class([*around, *near, rows("far", name, [far])], name).up
             for far in (0.1, 1.0, 1e3, 1e6)]
    assert sizes[0] < sizes[1]
    assert sizes[2] == pytest.approx(sizes[3], rel=0.05)
    assert sizes[3] < 1.2


@pytest.mark.parametrize(("far", "bound", "explained"), [
    (9.0, 0.6, 0.0), (-9.0, -0.3, 0.0), (9.0, 0.75, 0.15), (-9.0, -0.75, np.sqrt(0.0525))])
def test_error_counts_up_to_three_deviations_of_the_class_above(far, bound, explained):
    """3 × 0.2 upwards, 3 × 0.1 downwards, with what ranges explain: 3 × √(0.2² + 0.15²)."""
    found, at_bound, inside = (
        estimated([(rows("s", A, [error], ranges=explained), 1.0)], Pooled(0.1, 0.2, 0.0))
        for error in (far, bound, 0.9 * bound))
    assert (found.down, found.up) == pytest.approx((at_bound.down, at_bound.up), rel=1e-3, abs=1e-6)
    assert max(inside.down, inside.up) < 0.99 * max(found.down, found.up)


def test_few_systems_borrow_and_many_tend_to_their_own():
    wide, narrow = drawn(f"{A}/x", 0.8, 40), drawn(f"{B}/x", 0.1, 200, 2)
    sizes = [of_class([*wide, *narrow[:count]], f"{B}/x").up for count in (1, 4, 200)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == pytest.approx(of_class(narrow, f"{B}/x").up, rel=0.1)
    assert of_class([*wide, *narrow[:4]], f"{B}/x", borrowed=10 * K).up > sizes[1]
    calm = of_class([*drawn(A, 0.1, 40), *drawn("queued/servers/A", 0.8, 40, seed=2)], A)
    assert max(calm.down, calm.up) < 0.15  # another load widens it little


def test_weights_of_borrowed_systems():
    """Each group leaves two thirds; latency rests on its class, then on the tokens of its class."""
    one = [rows("one", f"{A}/x", [0.0]), rows("two", f"{A}/y", [0.0]), rows("three", f"{B}/x", [0]),
           rows("four", "queued/servers/A/x", [0.0])]
    assert {each.system: share for each, share in chain(one, f"{A}/x", "tpot", 2)} == (
        pytest.approx({"one": 1 / 3, "two": 2 / 9, "three": 4 / 27, "four": 8 / 27}))
    two = [rows("tokens of y", f"{A}/y", [0.0]), rows("latency of y", f"{A}/y", [0.0], "e2e"),
           rows("tokens of x", f"{A}/x", [0.0]), rows("latency of x", f"{A}/x", [0.0], "e2e"),
           rows("first of x", f"{A}/x", [0.0], "ttft")]
    assert {each.system: share for each, share in chain(two, f"{A}/x", "e2e", 2)} == (
        pytest.approx({"latency of x": 1 / 3, "tokens of x": 2 / 9, "tokens of y": 4 / 27,
                       "latency of y": 8 / 27}))


def test_scatter_of_rows_about_their_system():
    """Of 0, 1, 2, 3, 10 the median distance from 2 is 1; 0.1 counts 3 and 0.2 counts 1: 0.125."""
    assert rows("s", A, [0, 1, 3, 10, 2]).scatter == pytest.approx(1 / UNIT)
    found = estimated([(rows("one", A, [0, 0.1 * UNIT, 0.2 * UNIT]), 0.3),
                       (rows("two", A, [0, 0.2 * UNIT, 0.4 * UNIT]), 0.1),
                       (rows("three", A, [5.0]), 0.6)])
    assert found.within == pytest.approx(0.125)
    assert of_class(drawn(A, 0.4, within=0.1), A).within == pytest.approx(0.1, rel=0.15)


def test_system_takes_no_part_in_its_own_interval():
    others = drawn(f"{A}/vllm", 0.3, 40)
    sizes = {pooling.left_out([*others[:6], rows("mine", f"{A}/vllm", [error] * 3)], K)
             ["mine"]["concurrent"]["tpot"] for error in (0.0, 5.0)}
    assert len(sizes) == 1
    sides = pooling.left_out(others, K)
    inside = [-NORMAL_90 * sides[each.system]["concurrent"]["tpot"][0] <= each.error[0]
              <= NORMAL_90 * sides[each.system]["concurrent"]["tpot"][1] for each in others]
    assert np.mean(inside) == pytest.approx(0.8, abs=0.1)


# --- measured systems -----------------------------------------------------------------------------


def test_residuals_of_a_measured_system():
    """From the middle of what ranges explain, in logarithms; their deviation is 80% of them."""
    system = validation.measured_system("s3-hybrid-910b4")
    found = {each.metric: each for each in pooling.residuals([system])}
    assert set(found) == {"tpot", "ttft", "e2e", "output_throughput"}
    made = protocols.uncalibrated(system, "tpot", {})
    one = found["tpot"]
    assert one.of == "concurrent/hosts/Huawei"
    assert one.error == pytest.approx(np.log(made.measured / np.sqrt(made.low * made.high)))
    assert one.explained == pytest.approx(np.log(made.high / made.low) / (2 * NORMAL_90))
    assert one.requests == pytest.approx(system.rows["concurrency"] / system.scenario.devices)


def test_blind_predictions_take_no_part():
    stored = classes.discrepancy()
    systems = pooling.non_blind_systems(validation.measured_systems())
    assert not any(system.scenario.measured.blind for system in systems)
    assert {name: own.of for name, own in stored.left_out.items()} == {
        system.id: classes.class_of(system.scenario) for system in systems}
    assert not {"wide-lmsys-decode", "wide-vllm-prefill-ep8"} & stored.left_out.keys()


def test_stored_intervals_hold_in_every_class_with_several_systems():
    """As often as 80% of so many systems may by chance: rows of one fall together."""
    stored = classes.discrepancy()
    for name, of in stored.classes.items():
        for metric, own in of.items():
            if own.rows >= 10 and own.systems >= 3:
                least = binom.ppf(0.05, own.systems, 0.8) / own.systems
                assert own.inside >= least * own.rows, (name, metric)
    path = catalogue.ROOT / "discrepancies" / f"{classes.UNCALIBRATED}.yml"
    text = path.read_text("utf-8")
    assert with_estimates(text, stored) == text
