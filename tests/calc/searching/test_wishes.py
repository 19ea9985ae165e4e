"""What a goal asks, before anything is tried and of columns of deployments, by hand."""

import math
from types import SimpleNamespace as Made

import numpy as np
import pytest
from _middle import BASE, PLAIN, cells

from calc.answer import simulated as system
from calc.answer import users
from calc.layouts.choice import Row
from calc.layouts.space import Space
from calc.searching import goal as module
from calc.searching.goal import Least, Wishes, least_pace, left_out, stated_limits
from calc.searching.goal import wishes as wishes_of
from calc.searching.load_goal import load_goal
from calc.searching.percentiles import simulated
from calc.uncertainty.amount import Amount
from catalogue import ParamsError

HOUR = Amount.exactly(0.5, "USD/s")  # a price that leaves plain numbers


def goal(*settings):
    return load_goal("r1-80-users-h20", ["limits.tpot=null", "limits.ttft=null", *settings])


def wishes(*settings, **more):
    return Wishes(**{"goal": goal(*settings), "objectives": {"cards": -1, "tpot": -1}, "own": 1,
                     "hours": {"nvidia-h20": HOUR}, "unpriced": ()} | more)


def columns(**more):
    return {name: np.array(values, float) for name, values in (
        {"devices": [8, 16], "throughput": [400, 3200]} | more).items()}


def test_energy_cost_and_throughput_of_a_card():
    """8 cards at 0.5 USD/s that give 400 tokens a second take 0.01 USD a token."""
    found = wishes().with_derived(columns(power=[4000, 8000]), "nvidia-h20")
    assert found["throughput_per_card"].tolist() == [50, 200]
    assert found["energy"].tolist() == [10, 2.5]
    assert found["cost"] == pytest.approx([1e4, 2.5e3])
    assert found["cards"].tolist() == [8, 16]


def test_a_card_without_a_price_costs_without_end_where_others_have_one():
    assert wishes().with_derived(columns(), "ascend-910b2")["cost"].tolist() == [np.inf] * 2
    none = wishes(hours={}).with_derived(columns(), "ascend-910b2")
    assert "cost" not in none
    assert "energy" not in none


def test_two_pools_are_paid_each_at_the_price_of_its_own_cards():
    """3 cards at 2 USD/s and 5 at 0.5 USD/s for 100 tokens a second."""
    dear = Amount.exactly(2.0, "USD/s")
    asked = wishes(hours={"nvidia-h20": HOUR, "nvidia-h200-sxm": dear})
    pair = columns(devices=[8], throughput=[100]) | {
        "prefill devices": np.array([3.0]), "decode devices": np.array([5.0])}
    assert asked.of_pair(pair, "nvidia-h200-sxm", "nvidia-h20")["cost"] == pytest.approx([8.5e4])
    assert asked.of_pair(pair, "nvidia-h20", "nvidia-h200-sxm")["cost"] == pytest.approx([11.5e4])
    assert asked.of_pair(pair, "ascend-910b2", "nvidia-h20")["cost"].tolist() == [np.inf]
    assert "cost" not in wishes(hours={}).of_pair(pair, "nvidia-h20", "nvidia-h20")


def test_what_serves_nothing_costs_without_end_and_is_over_by_any_factor():
    """A rate may be so small that none is left; nothing is said on the terminal of a reader."""
    asked, none = wishes("limits.throughput=100 token/s"), columns(devices=[8], throughput=[0])
    pools = none | {"prefill devices": np.array([3.0]), "decode devices": np.array([5.0])}
    with np.errstate(all="raise"):
        assert asked.of_pair(pools, "nvidia-h20", "nvidia-h20")["cost"].tolist() == [np.inf]
        assert asked.with_derived(none, "nvidia-h20")["cost"].tolist() == [np.inf]
        assert asked.excess(none)["throughput"].tolist() == [np.inf]


def test_at_best_a_request_takes_its_steps_after_the_first_token():
    """101 tokens at 20 ms take two seconds; 8 in flight give 404 tokens a second."""
    asked = wishes("demand.output_tokens=101 token")
    found = asked.at_best(columns(concurrency=[8, 16]), np.array([0.02, 0.01]), "nvidia-h20")
    assert found["e2e"] == pytest.approx([2, 1])
    assert found["throughput"] == pytest.approx([404, 1616])
    assert (found["ttft"].tolist(), found["energy"].tolist()) == ([0, 0], [0, 0])
    one = wishes("demand.output_tokens=1 token").at_best(
        columns(concurrency=[8, 16]), np.array([0.02, 0.01]), "nvidia-h20")
    assert one["e2e"] == pytest.approx([0.02, 0.01])


LIMITS = ("limits.tpot=50 ms", "limits.throughput=1000 token/s")


def test_how_far_a_deployment_is_over_its_limits():
    found = wishes(*LIMITS).excess(columns(tpot=[0.05, 0.06], throughput=[500, 1000]))
    assert found["tpot"] == pytest.approx([0, 0.2])
    assert found["throughput"] == pytest.approx([1, 0])


@pytest.mark.parametrize(("quantities", "over", "binds"), [
    ({"tpot": 0.0401, "throughput": 2000.0}, {}, "tpot"),  # within a fifth of it
    ({"tpot": 0.0399, "throughput": 2000.0}, {}, ""),
    ({"tpot": 0.01, "throughput": 1250.0}, {}, "throughput"),
    ({"tpot": 0.045, "throughput": 1050.0}, {}, "throughput"),
    ({"tpot": 0.01}, {}, ""), ({}, {}, ""),
    ({"short": 1e9, "tpot": 0.01}, {}, "memory_capacity"),
    ({"tpot": 0.1, "throughput": 100.0}, {"tpot": 1.0, "throughput": 9.0}, "throughput"),
])
def test_the_limit_that_binds(quantities, over, binds):
    assert wishes(*LIMITS).binds(Row(PLAIN, quantities, over=over)) == binds


@pytest.mark.parametrize(("times", "stated"), [
    ({"ttft": {"p90": 4.0, "p50": 1.0}}, {"ttft": 4.0}),
    ({"ttft": {"p90": 4.0, "mean": 3.0}}, {"ttft": 3.0}),
    ({"ttft": {"p99": 4.0, "mean": 5.0}, "tpot": {"p75": 0.06}}, {"ttft": 4.0, "tpot": 0.06}),
    ({"tpot": {"p50": 0.06}}, {}), ({}, {})])
def test_the_mean_is_held_against_percentiles_from_the_upper_quartile_on(times, stated):
    limits = Made(times=times, throughput=None, cost=None, power=5)
    assert stated_limits(Made(limits=limits)) == stated | {"power": 5.0}


def test_which_of_the_objectives_are_the_goal_s_and_what_is_bounded():
    assert wishes().chosen == {"cards": -1}
    assert wishes().bounded
    assert not wishes(objectives={"ttft": -1}).bounded
    assert wishes(objectives={"energy": -1}).powered
    assert wishes("limits.power=100 kW").powered
    assert not wishes().powered


PRICED = {"nvidia-h200-sxm": 2.0}


def asked(*settings, margins=False, monkeypatch=None):
    """What a goal wishes where one card alone has a price."""
    if monkeypatch is not None:
        monkeypatch.setattr(module, "card_hour", lambda device, *_: (
            Amount.exactly(PRICED[device], "USD/s") if device in PRICED else None))
        monkeypatch.setattr(module, "converted", lambda hour, currency, _: hour)
    usual = "objectives=usual" in settings
    goal = load_goal("r1-80-users-h20", [each for each in settings if "usual" not in each])
    return wishes_of(Space(goal.model_copy(update={"objectives": None}) if usual else goal),
                  margins=margins)


def test_limits_are_objectives_behind_the_goal_s_own_where_steps_bound_them():
    """A TTFT has no bound from a decode step: it is one where margins or shares are asked."""
    plain = asked()
    assert plain.objectives == {"cards": -1, "tpot": -1}
    assert (plain.own, plain.chosen) == (2, {"cards": -1, "tpot": -1})
    for found in (asked(margins=True), asked("limits.sure=0.5")):
        assert found.objectives == {"cards": -1, "tpot": -1, "ttft": -1}
        assert found.chosen == plain.chosen
    rate = asked("limits.throughput=100 token/s", "limits.ttft=1 s", "objectives=context")
    assert list(rate.objectives.items()) == [
        ("longest_context", 1), ("tpot", -1), ("throughput", 1)]


def test_a_cost_is_asked_by_default_only_where_every_card_has_a_price(monkeypatch):
    usual = ("objectives=usual", "limits.tpot=null", "limits.ttft=null")
    for devices, unpriced, cost in (
            ("nvidia-h200-sxm", (), True), ("nvidia-h200-sxm,nvidia-h20", ("nvidia-h20",), False),
            ("nvidia-h20", ("nvidia-h20",), False)):
        found = asked(*usual, f"devices={devices}", monkeypatch=monkeypatch)
        assert found.unpriced == unpriced
        assert ("cost" in found.objectives) is cost
        assert list(found.objectives)[:3] == ["throughput_per_card", "tpot", "ttft"]
        assert {device: hour.value for device, hour in found.hours.items()} == (
            {} if devices == "nvidia-h20" else PRICED)
    some = asked("objectives=cost", "devices=nvidia-h200-sxm,nvidia-h20", monkeypatch=monkeypatch)
    assert "cost" in some.objectives
    for settings in (["objectives=cost,tpot"], ["limits.cost=1"]):
        with pytest.raises(ParamsError) as told:
            asked("devices=nvidia-h20,nvidia-h20-141gb", *settings, monkeypatch=monkeypatch)
        assert str(told.value) == (
            "r1-80-users-h20: it asks for a cost, but no price of nvidia-h20, nvidia-h20-141gb is "
            "known, state one: devices: [{device: nvidia-h20, price: 1.5..2.5 USD/h}].")


@pytest.mark.parametrize(("settings", "told"), [
    (["demand.users=null", "demand.arrival_rate=2 request/s", "limits.throughput=2048 token/s"],
     None),
    (["demand.users=null", "demand.arrival_rate=2 request/s", "limits.throughput=2100 token/s"],
     "2 requests per second of 1,024 tokens are 2,048 token/s"),
    (["demand.think_time=20 s", "limits.throughput=4096 token/s"], None),
    (["demand.think_time=20 s", "limits.throughput=4097 token/s"],
     "80 users who think 20 s before each 1,024 tokens are 4,096 token/s"),
    (["demand.think_time=0 s", "limits.throughput=1e9 token/s", "space.pools=one,two"], None)])
def test_no_more_is_asked_of_a_deployment_than_arrives(settings, told):
    """Two a second of 1024 tokens; 80 users of whom each thinks 20 s before it asks for 1024."""
    if told is None:
        assert asked(*settings).limits["throughput"] > 0
        return
    with pytest.raises(ParamsError) as refused:
        asked(*settings)
    assert told in str(refused.value)
    assert str(refused.value).endswith("expected at most what arrives.")


def too_fast(monkeypatch, pace, wanted, *settings):
    """What is said where a card gives a token at such a pace and so many are wanted a second."""
    looked = []

    def least(space, many, enough):
        looked.append((many, enough))
        return None if pace is None else Least(pace, PLAIN, Made(
            inputs=lambda: "inputs", model=Made(attention="mla")))

    monkeypatch.setattr(module, "least_pace", least)
    monkeypatch.setattr(module, "evaluate", lambda *given: given)
    monkeypatch.setattr(module, "bottleneck", lambda inputs, found: (
        "memory_bandwidth" if found == (inputs, "mla") else None))
    goal = load_goal("r1-80-users-h20", ["demand.output_tokens=101 token", "limits.tpot=200 ms",
                                         *settings])
    module._too_fast(Space(goal), goal, 80, wanted)
    return looked


def test_tokens_that_no_card_gives_in_time_are_refused_with_the_arithmetic(monkeypatch):
    """80 answers of 101 tokens, of which 100 take a step: at 50 ms each 1616 tokens a second."""
    assert too_fast(monkeypatch, .05, 1616.0) == [(80, pytest.approx(.05))]
    assert too_fast(monkeypatch, .0499, 1616.0)
    assert too_fast(monkeypatch, None, 1616.0)
    with pytest.raises(ParamsError) as told:
        too_fast(monkeypatch, .08, 1616.0)
    assert str(told.value) == (
        "r1-80-users-h20: for 80 users to reach 1,616 token/s together, each needs a token every "
        "49.5 ms; the least that any of these cards gives them is one every 80 ms (16 × "
        "nvidia-h20, fp8-block, 2 replicas of TP8/EP8, 0 drafts, memory bandwidth binds), and "
        "200 ms would be 400 token/s; expected at most 1,010 token/s.")


def test_a_limit_that_is_no_wider_than_what_is_needed_says_more_as_a_near_miss(monkeypatch):
    assert too_fast(monkeypatch, 9.0, 80 * 101 / (100 * .2)) == []  # 200 ms a token are needed
    assert too_fast(monkeypatch, 9.0, 1616.0, "limits.tpot=50 ms") == []
    assert too_fast(monkeypatch, 9.0, 1616.0, "limits.tpot=null") == []
    one = too_fast(monkeypatch, .01, 1616.0, "demand.output_tokens=1 token")
    assert one == [(80, pytest.approx(80 / 1616))]


def test_the_least_pace_is_of_what_fits_with_the_least_chunk_and_the_most_memory(monkeypatch):
    """The first base has one in 30 ms, the second in 20 ms; what is enough ends it."""
    table = {0: cells(chunk=[8, 8, 8, 9], utilization=[90, 95, 95, 95], tensor=[1, 2, 3, 4],
                      pace=[.001, .04, .03, .002], room=[9., 1., 0., 9.]),
             1: cells(chunk=[8, 8], pace=[.02, .01], room=[1., -1.], tensor=[5, 6]),
             2: cells(chunk=[8], pace=[.001], room=[-1.])}

    class Known:
        attention = "mla"

        def spare(self, cells):
            return cells["room"] + 0 * cells["concurrency"]

        def pace(self, cells):
            return cells["pace"] + cells["concurrency"] / 1000 - .064

    bases = [None, BASE, BASE, BASE]
    tried = iter([3, 2, 0, 1])  # one that is never laid out, one without room, and two

    def candidates(space, base, demand):
        number = next(tried)
        return None if number == 3 else (Known(), None, dict(table[number]))

    monkeypatch.setattr(module, "candidate_cells", candidates)
    monkeypatch.setattr(module, "scenario", lambda goal, choice: choice)
    goal = load_goal("r1-80-users-h20")
    space = Made(bases=lambda: bases, goal=goal)
    least = least_pace(space, 64)
    assert (least.pace, least.choice.tensor, least.choice.concurrency) == (
        pytest.approx(.02), 5, 64)
    assert least.deployed == least.choice
    tried = iter([3, 2, 0, 1])
    assert least_pace(space, 64, enough=.03 + 1e-12).choice.tensor == 3
    bases[:] = [BASE]
    tried = iter([2])
    assert least_pace(space, 64) is None


def test_what_a_goal_leaves_out_are_formats_that_it_does_not_name_and_arrangements(monkeypatch):
    class Usual(Space):
        def bases(self):
            free = self.goal.precisions is None and self.goal.limits.quality is None
            return [Made(precision=name) for name in (("c", "b", "a") if free else "a")]

    monkeypatch.setattr(module, "Space", Usual)

    def out(*settings, tried=("a",), paired=True):
        return left_out(load_goal("r1-80-users-h20", settings), set(tried), paired)

    assert out("precisions=fp8-block", "space.pools=one,two") == ["b", "c"]
    assert out("limits.quality=published", "space.pools=one,two", tried="ab") == ["c"]
    assert out("space.pools=one,two") == []
    assert out("space.pools=one") == ["two pools"]
    assert out("space.pools=two") == ["one pool"]
    assert out("space.pools=one,two", paired=False) == ["two pools"]


SEEN = {"ttft": 1.5, "tpot": .05}


def watched(monkeypatch, *settings, row=None, keeps_up=True):
    """What is asked of a simulation, and what it tells: a mean, and twice it of a percentile."""
    given = []

    def see(deployed, load, system, wanted):
        given.append((deployed, load, system, wanted))
        return Made(keeps_up=keeps_up, lengths="equal", **{
            name: Made(mean=mean, at=lambda share, mean=mean: Made(value=mean * 2 * share))
            for name, mean in SEEN.items()})

    monkeypatch.setattr(users, "users_see", see)
    monkeypatch.setattr(system, "system_of", lambda deployed, prefill: (deployed, prefill))
    monkeypatch.setattr("calc.searching.percentiles.scenario", lambda goal, choice: choice.chunk)
    goal = load_goal("r1-80-users-h20", ["limits.tpot=null", "limits.ttft=null", *settings])
    return simulated(goal, row or Row(PLAIN, {})), given


def test_users_of_a_goal_are_simulated_as_it_says_that_they_come(monkeypatch):
    told, given = watched(monkeypatch)
    assert (told, given) == (None, [])
    limit = "limits.ttft=9 s"
    for settings, load in (
            ([], users.UserLoad(80)), (["demand.think_time=5 s"], users.UserLoad(80, 5.0)),
            (["demand.users=null"], users.UserLoad(1024)),
            (["demand.arrivals=burst"], users.UserLoad(80, together=True, requests=80)),
            (["demand.users=null", "demand.arrival_rate=2 request/s"], users.UserLoad(rate=2.0))):
        _, (asked,) = watched(monkeypatch, limit, *settings)
        assert asked == (8192, load, (8192, None), {"ttft": [None]})
    pair = Row(PLAIN, {}, prefill=PLAIN.__class__(**vars(PLAIN) | {"chunk": 512}))
    _, (asked,) = watched(monkeypatch, limit, row=pair)
    assert asked[2] == (8192, 512)


@pytest.mark.parametrize(("limit", "keeps"), [
    ("{mean: 1.5 s}", True), ("{mean: 1.49 s}", False), ("{mean: 2 s, p90: 2.7 s}", True),
    ("{mean: 2 s, p90: 2.69 s}", False)])
def test_a_simulation_keeps_the_limits_at_their_mean_or_percentile(limit, keeps, monkeypatch):
    """The mean is 1.5 s; of such users nine of ten wait 2.7 s at most."""
    told, (asked,) = watched(monkeypatch, f"limits.ttft={limit}", "limits.tpot=50 ms")
    assert told.keeps is keeps
    assert asked[3]["ttft"] == [None, .9][:len(asked[3]["ttft"])]
    assert told.seen["tpot"] == {"mean": .05}
    assert told.seen["ttft"]["mean"] == 1.5
    assert math.isclose(told.seen["ttft"].get("p90", 2.7), 2.7)
    late, _ = watched(monkeypatch, f"limits.ttft={limit}", keeps_up=False)
    assert not late.keeps
    assert told.as_json() == {"seen": told.seen, "keeps": keeps, "lengths": "equal"}
    assert np.isfinite(told.seen["tpot"]["mean"])
