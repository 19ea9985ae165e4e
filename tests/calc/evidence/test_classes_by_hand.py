"""What a class that is not known exactly gets, by hand: the median distance of those beside it."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.evidence import classes, validation
from calc.uncertainty import interval

TOP = "concurrent/servers"
UNIT = 0.6744897501960817


def own(down, up):
    return {"tpot": SimpleNamespace(down=down, up=up)}


KNOWN = {"all": own(0.9, 0.9), "concurrent": own(0.6, 0.7), TOP: own(0.5, 0.4),
         f"{TOP}/A": own(0.2, 0.3), f"{TOP}/A/x": own(0.1, 0.2), f"{TOP}/A/y": own(0.5, 0.2),
         f"{TOP}/A/z": own(0.3, 0.9), f"{TOP}/B": own(0.4, 1.4), f"{TOP}/B/x": own(0.7, 1.0),
         "concurrent/hosts": own(0.8, 0.9), "concurrent/hosts/A": own(0.7, 0.7),
         "concurrent/hosts/B": own(0.1, 0.1), "queued": own(0.3, 0.3),
         "queued/servers": own(0.2, 0.2), "queued/servers/A": own(0.6, 0.1)}


@pytest.mark.parametrize(("name", "at", "down", "up"), [
    (f"{TOP}/A/x", f"{TOP}/A/x", 0.1, 0.2),  # the engine is known
    (f"{TOP}/A", f"{TOP}/A", math.hypot(0.2, 0.1 / UNIT), math.hypot(0.3, 0.1 / UNIT)),
    (f"{TOP}/A/w", f"{TOP}/A", math.hypot(0.2, 0.1 / UNIT), math.hypot(0.3, 0.1 / UNIT)),
    (f"{TOP}/B", f"{TOP}/B", 0.4, 1.4),  # of one engine nothing says how engines differ
    (f"{TOP}/C", TOP, math.hypot(0.5, 0.2 / UNIT), math.hypot(0.4, 0.55 / UNIT)),
    ("concurrent/hosts/C", "concurrent/hosts", 0.8, 0.9),  # of which the maker says little
    # of one maker under a load: as far as makers of servers differ where they were measured
    ("queued/servers/C", "queued/servers", math.hypot(0.2, 0.2 / UNIT),
     math.hypot(0.2, 0.55 / UNIT)),
    # under a load that was not measured: as loads differ, by 0.3 and 0.6 of 0.9 downwards
    ("alone/servers/A", "all", math.hypot(0.9, 0.45 / UNIT), math.hypot(0.9, 0.4 / UNIT))])
def test_a_class_that_is_not_known_is_wider_by_the_median_distance_of_those_beside_it(
        name, at, down, up):
    """Engines of A are 0.1, 0.3 and 0.1 from its 0.2 downwards; makers 0.3 and 0.1 from 0.5."""
    found, metric, sides = classes.applied_error(KNOWN, name, "tpot")
    assert (found, metric) == (at, "tpot")
    assert sides == pytest.approx((down, up))


def test_what_stands_in_for_a_quantity_does_so_in_the_same_class():
    both = KNOWN | {"all": KNOWN["all"] | {"e2e": SimpleNamespace(down=2.0, up=3.0)}}
    assert classes.applied_error(both, f"{TOP}/A/x", "e2e") == (f"{TOP}/A/x", "tpot", (0.1, 0.2))
    assert classes.applied_error(both, f"{TOP}/A/x", "ttft") is None


@pytest.mark.parametrize(("inputs", "load"), [
    ((0, 2), "concurrent"), ((0, 1), "alone"), ((1, 2), "alone")])
def test_a_deployment_that_writes_one_token_or_has_pools_is_in_one_phase(inputs, load):
    assert classes.load_under(dict(zip(("separate_pools", "output_tokens"), inputs, strict=True))
                              ) == load


def test_an_error_widens_on_either_side_with_its_own_growth():
    """Over four doublings √(0.3² + 4 × 0.2²) and √(0.4² + 4 × 0.15²)."""
    found = classes.Own((0.3, 0.4), "all", "tpot", 2, 9, 7, 0.1, (0.2, 0.15), 4.0)
    assert found.sides == pytest.approx((0.5, 0.5))
    assert found.beyond == pytest.approx((0.4, 0.3))
    assert found.parts == pytest.approx((0.3, 0.4, 0.4, 0.3))
    told = found.as_json()
    assert (told["class"], told["sides"], told["rows"]) == ("all", found.sides, 9)


def test_growth_without_a_system_is_what_the_others_say():
    each = SimpleNamespace(down=0.1, up=0.2, without={"mine": (0.3, 0.4)})
    assert classes.grown_without({"tpot": each}, "e2e", "mine") == (0.3, 0.4)
    assert classes.grown_without({"tpot": each}, "tpot", "other") == (0.1, 0.2)
    assert classes.grown_without({"tpot": each}, "ttft", "mine") == (0.0, 0.0)


def test_rows_that_a_calibration_leaves_out_are_counted_from_one():
    case = SimpleNamespace(measured=lambda metric: np.array([0, 2, 3, 5]))
    chosen = SimpleNamespace(metric="tpot", without=[1, 2, 4])
    assert validation.calibrated_rows(case, chosen).tolist() == [2, 5]


def test_rows_of_several_loads_have_each_the_error_of_their_own(monkeypatch):
    sizes = {"queued": 1.0, "concurrent": 10.0}
    monkeypatch.setattr(validation, "deviations", lambda scenario, requests, load: {
        "tpot": (sizes[load] * requests, sizes[load])})
    case = SimpleNamespace(scenario=None, rows={"concurrency": np.array([1.0, 2.0, 3.0, 4.0])},
                           loads=np.array(["queued", "queued", "concurrent", "queued"]))
    down, up = validation.own_parts(case, np.array([1, 2, 3]))["tpot"]
    assert (down.tolist(), up.tolist()) == ([2, 30, 4], [1, 10, 1])


def test_what_is_just_enough_in_a_draw_is_no_shortage(monkeypatch):
    monkeypatch.setattr(interval, "evaluate", lambda points, attention, decode: {
        "room": np.array([-1.0, 0.0, 0.5, -1e-9])})
    assert interval.share_not_negative({}, [], "mla", "room") == 0.5
