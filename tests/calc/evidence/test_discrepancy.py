"""The formulas' own error by class: how few systems borrow from many, and what is stored."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

import catalogue
from calc.evidence import classes, discrepancy, validation
from calc.evidence.discrepancy import (
    Residuals,
    chain,
    estimated,
    estimates,
    scatter,
    unlikely,
    with_estimates,
)
from calc.evidence.systems import measured_system
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.calibrations import Growth

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
    return estimates(found, borrowed)[name][metric]


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


def test_rate_of_a_fixed_number_of_requests_errs_as_their_latency():
    """Little's law: what a request takes longer, as many of them leave later. Sent all at once, a
    rate has rows of its own."""
    wide = [rows(f"rate {i}", f"{load}/servers/A/x", [1.0, -1.0], "output_throughput")
            for i, load in enumerate(("concurrent", "queued"))]
    found = [*drawn(f"{A}/x", 0.1, 20), *wide, rows("latency", f"{A}/x", [0.1], "e2e")]
    assert of_class(found, f"{A}/x", "output_throughput") == of_class(found, f"{A}/x", "e2e")
    assert of_class(found, "queued/servers/A/x", "output_throughput").up > 0.5
    growth = {"tpot": Growth(down=0.1, up=0.3, systems=1, pairs=1, inside=1, without={})}
    assert classes.grown_without(growth, "output_throughput", "") == (0.3, 0.1)


def test_scatter_of_rows_about_their_system():
    """Of 0, 1, 2, 3, 10 the median distance from 2 is 1; 0.1 counts 3 and 0.2 counts 1: 0.125."""
    assert scatter(rows("s", A, [0, 1, 3, 10, 2])) == pytest.approx(1 / UNIT)
    found = estimated([(rows("one", A, [0, 0.1 * UNIT, 0.2 * UNIT]), 0.3),
                       (rows("two", A, [0, 0.2 * UNIT, 0.4 * UNIT]), 0.1),
                       (rows("three", A, [5.0]), 0.6)])
    assert found.within == pytest.approx(0.125)
    assert of_class(drawn(A, 0.4, within=0.1), A).within == pytest.approx(0.1, rel=0.15)


def test_system_takes_no_part_in_its_own_interval():
    others = drawn(f"{A}/vllm", 0.3, 20)
    sizes = {discrepancy.left_out([*others[:6], rows("mine", f"{A}/vllm", [error] * 3)], K)
             ["mine"]["concurrent"]["tpot"] for error in (0.0, 5.0)}
    assert len(sizes) == 1
    sides = discrepancy.left_out(others, K)
    inside = [-NORMAL_90 * sides[each.system]["concurrent"]["tpot"][0] <= each.error[0]
              <= NORMAL_90 * sides[each.system]["concurrent"]["tpot"][1] for each in others]
    assert np.mean(inside) == pytest.approx(0.8, abs=0.1)


# --- measured systems -----------------------------------------------------------------------------


def test_residuals_of_a_measured_system():
    """From the middle of what ranges explain, in logarithms; their deviation is 80% of them."""
    system = measured_system("s3-hybrid-910b4")
    found = {each.metric: each for each in discrepancy.residuals([system])}
    assert set(found) == {"tpot", "ttft", "e2e", "output_throughput"}
    made = validation.uncalibrated(system, "tpot", {})
    one = found["tpot"]
    assert one.of == "concurrent/hosts/Huawei"
    assert one.error == pytest.approx(np.log(made.measured / np.sqrt(made.low * made.high)))
    assert one.explained == pytest.approx(np.log(made.high / made.low) / (2 * NORMAL_90))
    assert one.requests == pytest.approx(system.rows["concurrency"] / system.scenario.devices)


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
