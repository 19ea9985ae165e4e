"""What a deployment comes to in each draw: its inputs moved, with the requests that the load takes.
"""

from dataclasses import replace
from types import SimpleNamespace as Made

import numpy as np
import pytest
from _middle import PLAIN

from calc.layouts.choice import Row
from calc.searching.drawing import draws as module
from calc.searching.drawing.draws import draws_of, scores_of
from calc.searching.drawing.in_flight import DRAWS, ENOUGH
from calc.searching.goal import Wishes
from calc.searching.load_goal import load_goal
from catalogue.deployments.knobs import Knob

GAP = Made(value=2.0, low=1.0, high=4.0, written="2", source="a page")


def wishes(*settings):
    goal = load_goal("r1-80-users-h20", settings)
    return Made(wishes=Wishes(goal, {"tpot": -1}, 1, {}, ()))


class Deployed:
    """A deployment of 10 requests in flight, of which one mechanism has a range."""

    model, device = Made(attention="gqa"), Made(id="nvidia-h20")

    def inputs(self):
        return {"gap": 2.0, "same_gap": 2.0, "hidden": 7, "concurrency": 10, "output_tokens": 50}

    def knobs(self):
        return [Knob("gap", GAP, ("gap", "same_gap"))]


RATED = ["request_throughput", "prefill_time", "tpot"]
STEADY = ["steady_ttft", "steady_tpot", "steady_e2e", "steady_throughput"]


@pytest.fixture
def passes(monkeypatch):
    """What is computed of which inputs: each quantity is its requests in flight times the gap."""
    asked = []

    def sweep(inputs, attention, names, threads):
        asked.append((inputs, attention, names))
        return dict.fromkeys(names, inputs["concurrency"] * inputs["gap"])

    monkeypatch.setattr(module, "decode_sweep", sweep)
    monkeypatch.setattr(module, "in_flight", lambda deployed, inputs, fixed: np.array(
        [10.0] if fixed else [10.0, 15.0, 20.0]))
    return asked


@pytest.mark.parametrize(("settings", "pool", "names", "counts"), [
    ((), None, STEADY, 1), (("demand.arrivals=burst",), None,
                            ["ttft", "tpot", "e2e", "output_throughput"], 1),
    (("demand.think_time=5 s",), None, [*STEADY, "steady_users"], 3),
    (("demand.users=null", "demand.arrival_rate=2 request/s"), None,
     [*STEADY, "steady_request_throughput"], 3),
    ((), "prefill", RATED, 1), ((), "decode", RATED, 3),
    (("demand.think_time=5 s",), "prefill", RATED, 1),
    (("demand.think_time=5 s",), "decode", RATED, 3)])
def test_each_draw_has_as_many_requests_in_flight_as_its_load_may_take(
        settings, pool, names, counts, passes, monkeypatch):
    """A pool that decodes and a load that is given take more of them; all else has its own."""
    monkeypatch.setattr(module, "rated", lambda pool, inputs, seen, attention, demand: {
        "rate": seen["tpot"], "inputs": inputs["concurrency"]})
    found, deployed = module._pool(wishes(*settings), Deployed(), pool)
    (inputs, attention, asked), = passes
    assert (attention, asked) == ("gqa", names)
    gap = Knob("gap", GAP, ()).at(scores_of(module._key(Knob("gap", GAP, ()))))
    assert inputs["gap"].tolist() == inputs["same_gap"].tolist() == [*gap] * counts
    flight = [10, 15, 20][:counts]
    assert inputs["concurrency"].tolist() == [each for each in flight for _ in range(DRAWS)]
    assert inputs["hidden"] == 7
    expected = [[each * one for one in gap] for each in flight]
    name = "tpot" if pool is None else "rate"
    assert found[name].tolist() == expected
    assert isinstance(deployed, Deployed)
    assert (ENOUGH in found) is (counts == 3 and pool is None)
    if pool:
        assert found["inputs"].shape == (counts, DRAWS)


@pytest.mark.parametrize(("pool", "factor"), [(None, 1), ("decode", 50)])
def test_power_is_drawn_of_the_tokens_that_a_draw_brings(pool, factor, passes, monkeypatch):
    """A pool finishes requests, of 50 tokens each."""
    monkeypatch.setattr(module, "rated", lambda pool, inputs, seen, attention, demand: {
        "rate": seen["tpot"]})
    monkeypatch.setattr(module, "powers_of", lambda device: device)
    monkeypatch.setattr(module, "shares_of", lambda powers: {"idle": GAP})
    given = {}

    def site(inputs, seen, deployed, rate, shares):
        given.update(shares=shares, device=deployed.device.id)
        return rate * 2

    monkeypatch.setattr(module, "site_draws", site)
    found, _ = module._pool(wishes("limits.power=9 kW"), Deployed(), pool)
    rate = found["throughput" if pool is None else "rate"]
    assert found["power"].tolist() == (2 * factor * rate).tolist()
    idle = Knob("idle", GAP, ()).at(scores_of("nvidia-h20 idle"))
    assert given["shares"]["idle"].tolist() == idle.tolist()
    assert set(module.POWER_NAMES) <= set(passes[0][2])


@pytest.fixture
def plain(monkeypatch):
    """Formulas without an error of their own, and pools that are told by name."""
    pools = {}
    monkeypatch.setattr(module, "scenario", lambda goal, choice: choice.pool)
    monkeypatch.setattr(module, "_pool", lambda found, deployed, pool: (
        dict(pools[pool]), f"deployed {pool}"))
    monkeypatch.setattr(module, "class_of", lambda deployed: f"class of {deployed}")
    monkeypatch.setattr(module, "own_errors", lambda deployed: f"errors of {deployed}")
    errors = []
    monkeypatch.setattr(module, "_own_errors", lambda *given: errors.append(given) or {
        "ttft": given[3]["ttft"] + (100 if given[4] else 0)})
    pools["errors"] = errors
    return pools


def drawn(*values):
    """A quantity by requests in flight, the same in every draw."""
    return np.repeat(np.array(values, float)[:, None], DRAWS, axis=1)


@pytest.mark.parametrize(("settings", "served", "place"), [
    (("demand.users=null", "demand.arrival_rate=12 request/s"), (4, 12, 13), 1),
    (("demand.users=null", "demand.arrival_rate=12 request/s"), (4, 11.9, 13), 2),
    (("demand.users=12", "demand.think_time=5 s"), (4, 5, 6), 2),
    (("demand.users=12", "demand.think_time=5 s"), (12, 5, 6), 0)])
def test_a_draw_serves_what_is_asked_with_the_fewest_that_do(settings, served, place, plain):
    times = {"ttft": drawn(1, 2, 3), "tpot": drawn(.1, .2, .3), "e2e": drawn(5, 6, 7),
             "throughput": drawn(7, 8, 9)}
    plain[None] = times | {ENOUGH: drawn(*served)}
    found = wishes(*settings)
    far, near, deployed = draws_of(found, Row(PLAIN, {}))
    e2e = 5 + place
    rate = 12 if len(settings) and "null" in settings[0] else 12 / (e2e + 5)
    for each, ttft in ((far, 101 + place), (near, 1 + place)):
        assert each["ttft"].tolist() == [ttft] * DRAWS
        assert each["tpot"][0] == pytest.approx(.1 * (1 + place))
        assert each["throughput"] == pytest.approx([rate * 1024] * DRAWS)
        assert each["throughput_per_card"] == pytest.approx(each["throughput"] / 16)
        assert ENOUGH not in each
    assert deployed == "deployed None"
    for of, own, first, *_ in plain["errors"]:
        assert (of, own, first) == ("class of deployed None", "errors of deployed None",
                                    "errors of deployed None")


def test_without_a_load_there_is_one_number_of_requests(plain):
    plain[None] = {name: drawn(value) for name, value in (
        ("ttft", 1), ("tpot", .1), ("e2e", 5), ("throughput", 7))}
    _, near, _ = draws_of(wishes(), Row(PLAIN, {}))
    assert near["throughput"].tolist() == [7] * DRAWS


def test_two_pools_are_drawn_together_each_with_its_own_error(plain, monkeypatch):
    """What prefills has one number of requests, what decodes two, of which the second serves."""
    plain["prefill"] = {"rate": drawn(3), "power": drawn(1000)}
    plain["decode"] = {"rate": drawn(1, 5), "power": drawn(200, 300)}
    given = []

    def balanced(first, then, asked, limited):
        given.append((first["rate"].shape, then["rate"].shape, limited))
        return {"throughput": np.where(then["rate"] > first["rate"], then["rate"], 0.0),
                "ttft": first["rate"] + then["rate"], "tpot": then["rate"]}

    monkeypatch.setattr(module, "combined", balanced)
    monkeypatch.setattr(module, "as_served", lambda pairs, demand: pairs)
    pair = Row(replace(PLAIN, pool="decode"), {}, prefill=replace(PLAIN, pool="prefill", devices=8))
    far, near, deployed = draws_of(wishes("limits.power=9 kW"), pair)
    assert given == [((2, DRAWS), (2, DRAWS), False)]
    assert near["tpot"].tolist() == [5] * DRAWS
    assert near["power"].tolist() == [1300] * DRAWS
    assert (far["ttft"][0], near["ttft"][0]) == (108, 8)
    assert near["throughput_per_card"].tolist() == [5 / 24] * DRAWS
    assert deployed == "deployed decode"
    of, own, first, _, beyond = plain["errors"][0]
    assert (of, own, first, beyond) == ("class of deployed decode", "errors of deployed decode",
                                        "errors of deployed prefill", True)
    assert plain["errors"][1][4] is False
