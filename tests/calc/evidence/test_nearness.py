"""How errors grow with the distance from what was measured, and how far a deployment is from it."""

from __future__ import annotations

import numpy as np
import pytest

import catalogue
from calc.evidence import classes, discrepancy
from calc.evidence.classes import AXES, NAMES, Nearness, nearness, position, widened
from calc.evidence.discrepancy import Residuals, growth_per_doubling
from catalogue.entries.calibrations import Covered

FAR = "h200-r1-vllm-tp8"
AT = {"requests": 3.0, "tensor": 8, "pipeline": 2, "expert": 4, "drafts": 3, "pools": 1,
      "precision": "fp8", "device": "card"}


def rows(system, requests, errors):
    return Residuals(system, "concurrent/servers/A", "tpot", np.array(errors, float),
                     np.zeros(len(errors)), np.array(requests, float))


def walking(system, down, up, loads, seed):
    """A system whose error walks at random with the logarithm of the load."""
    draw = np.random.default_rng(seed)
    steps = draw.standard_normal(len(loads) - 1) * np.sqrt(np.diff(np.log2(loads)))
    steps *= np.where(steps < 0, down, up)
    return rows(system, loads, draw.normal() + np.concatenate([[0], np.cumsum(steps)]))


def loaded(requests, *overrides):
    return catalogue.load_scenario(FAR, overrides=[
        f"workload.concurrency={requests}", f"workload.requests={requests}", *overrides])


# --- growth ---------------------------------------------------------------------------------------


def test_pairs_of_rows_by_doublings_of_the_load():
    """2 → 8, 2 → 32 and 8 → 32 are two, four and two doublings; 2 and 2 are none."""
    found = discrepancy.pairs([rows("s", [8, 2, 2, 32], [0.5, 0.1, 0.2, 1.0])])
    assert found["doublings"].tolist() == [2, 4, 2, 4, 2]
    assert found["change"].tolist() == pytest.approx([0.4, 0.9, 0.3, 0.8, 0.5])
    assert discrepancy.pairs([rows("s", [4, 4], [0.1, 0.2])]).empty


@pytest.mark.parametrize(("down", "up"), [(0.1, 0.1), (0.3, 0.3)])
def test_fit_recovers_the_steps_of_a_walk(down, up):
    walks = [walking(f"s{seed}", down, up, (1.0, 2.0, 8.0, 64.0), seed) for seed in range(400)]
    found, level = growth_per_doubling(discrepancy.pairs(walks))
    assert found == pytest.approx((down, up), rel=0.15)
    assert level < 0.3 * up


def test_growth_needs_three_systems_and_leaves_each_out():
    three = [rows("a", [1, 2, 4], [0, 0.1, 0.3]), rows("b", [1, 4], [0, 0.2]),
             rows("c", [1, 2], [0, -0.1])]
    assert discrepancy.growth(three[:2]) is discrepancy.growth([]) is None
    found = discrepancy.growth(three)
    assert (found.systems, found.pairs) == (3, 5)
    every = discrepancy.pairs(three)
    assert (found.down, found.up) == pytest.approx(growth_per_doubling(every)[0], abs=1e-4)
    others = every[every["system"] != "a"]
    assert found.without["a"] == pytest.approx(growth_per_doubling(others)[0], abs=1e-4)
    walks = [walking(f"s{seed}", 0.4, 0.4, (1.0, 3.0, 40.0), seed) for seed in range(25)]
    assert discrepancy.growth(walks).inside == pytest.approx(0.8, abs=0.12)


def test_stored_growth():
    """Of four systems a single one is a quarter of all pairs."""
    for load, of in classes.discrepancy().growth.items():
        for metric, each in of.items():
            assert each.inside >= (0.7 if each.systems > 4 else 0.6), (load, metric)
            assert each.systems == len(each.without)


# --- nearness -------------------------------------------------------------------------------------


def covers(of="servers/A/x", requests=(1.0, 4.0), **changes):
    return Covered(**{"of": of, "device": "card", "precision": "fp8", "requests": requests,
                      "tensor": 8, "pipeline": 1, "expert": 1, "drafts": 0, "pools": 1} | changes)


def test_doublings_beyond_what_a_class_covers():
    """6 of 1 to 4 is log₂ 1.5; 2 ranks of 8 to 16 are two; 3 drafts check 4 tokens, twice 2."""
    measured = {"one": covers(), "two": covers(tensor=16, drafts=1, precision="bf16"),
                "other": covers("servers/B/x", device="else")}
    at = AT | {"requests": 6.0, "tensor": 2, "pipeline": 1, "expert": 1, "device": "else"}
    found = nearness(at, "servers/A/x", ["servers/A/x", "servers/A", "all"], measured)
    assert {axis.name: axis.beyond for axis in found.axes} == pytest.approx({
        "requests": np.log2(1.5), "tensor": 2, "pipeline": 0, "expert": 0, "drafts": 1,
        "precision": 0, "device": 1, "pools": 0})
    assert found.distance == pytest.approx(np.log2(1.5) + 4)
    assert [axis.name for axis in found.outside] == ["requests", "tensor", "drafts", "device"]
    # of the first: also 2 of 8 ranks, 4 of 1 checked, another card
    assert (found.of, found.nearest) == ("servers/A/x", "one")
    assert nearness(at, "hosts", ["hosts"], {}) == Nearness("hosts")


def test_place_of_a_deployment():
    """Requests on a card; a measured system covers its rows, and is not near by them."""
    scenario = loaded(48)
    at = position(scenario)
    assert (at["requests"], at["tensor"], at["pools"]) == (48 / scenario.devices, 8, 1)
    stored, measured = classes.discrepancy().measured[FAR], catalogue.load_scenario(FAR)
    requests = measured.measured.column("concurrency")
    assert stored.requests == (min(requests) / 8, max(requests) / 8)
    assert all(getattr(stored, axis) == position(measured)[axis] for axis in (*AXES[1:], *NAMES))
    wide = catalogue.load_scenario("wide-cloudmatrix-decode")
    assert classes.near(wide).nearest != wide.id
    assert "expert" in {axis.name for axis in classes.near(wide).outside}


def test_each_doubling_of_the_load_counts_one():
    most = classes.near(loaded(8)).axes[0].covered[1] * 8
    distances = [classes.near(loaded(8), most * factor).distance for factor in (0.5, 1, 2, 8)]
    assert distances == pytest.approx([0, 0, 1, 3])
    many = classes.near(loaded(8), most * np.array([0.5, 1, 2, 8])).distance
    assert many.tolist() == pytest.approx(distances)


def test_interval_widens_with_distance():
    """Never narrower than its class; many loads at once are each alone."""
    near, far = (classes.own_errors(loaded(8), requests) for requests in (1000, 64_000))
    for metric, own in near.items():
        assert own.sides == own.of_class
        assert far[metric].sides >= own.sides
    assert far["tpot"].sides[1] > near["tpot"].sides[1]
    many = classes.own_errors(loaded(8), np.array([1000.0, 64_000.0]))["tpot"].sides[1]
    assert many == pytest.approx([near["tpot"].sides[1], far["tpot"].sides[1]])
    assert widened((0.0, 0.3), (0.1, 0.4), 4.0) == pytest.approx((0.2, np.hypot(0.3, 0.8)))
