"""What a goal asks: settings, objectives and limits as numbers, and goals that cannot be met."""

import numpy as np
import pytest

from calc.layouts.space import Space
from calc.searching.goal import Wishes, load_goal, stated_limits, wishes, with_price
from calc.searching.search import search
from calc.uncertainty import Amount
from catalogue import ParamsError

NAME = "r1-80-users-910b"
ERRORS = [
    ("demand.users=null; demand.arrival_rate=2 request/s; limits.throughput=9000 token/s",
     "limits.throughput: 2 requests per second of 1,024 tokens are 2,048 token/s, the goal asks "
     "for 9,000 token/s, expected at most what arrives."),
    ("demand.think_time=20 s; limits.throughput=4097 token/s", "limits.throughput: 80 users who "
     "think 20 s before each 1,024 tokens are 4,096 token/s, the goal asks for 4,097 token/s, "
     "expected at most what arrives."),
    ("objectives=cost; devices=intel-gaudi-3", "devices: the goal asks for a cost, but no price of "
     "intel-gaudi-3 is known, state one with --price or in the goal, devices: [{device: "
     "intel-gaudi-3, price: 1.5..2.5 USD/h}]."),
    ("devices=ascend-910c-package", "devices: 'ascend-910c-package' is a package that software sees"
     " as 2 devices, expected 'ascend-910c-die'."),
    ("devices=kunpeng-920", "devices: 'kunpeng-920' is a host processor, expected an accelerator."),
    ("devices=ascend-910a", "devices: no server of the catalogue holds 'ascend-910a', name one: "
     "{device: ascend-910a, node: NAME}."),
    ("limits.ttft={p90 2 s}", "--set limits.ttft: '{p90 2 s}' is no time and no times by "
     "percentile, expected limits.ttft.p90=2s, or limits.ttft={p90: 2 s}."),
    ("demand.users＝3", "--set demand.users＝3: expected KEY=VALUE, such as demand.users=3."),
    ("limits.sure=0.9; limits.tpot=null; limits.ttft=null",
     "--set limits.sure: no limit is stated of which to be sure.")]


@pytest.mark.parametrize(("settings", "message"), ERRORS)
def test_errors(settings, message):
    with pytest.raises(ParamsError) as error:
        search(load_goal(NAME, settings.split("; ")))
    assert str(error.value) == message


@pytest.mark.parametrize(("settings", "stated"), [
    (["limits.ttft=5s"], {"mean": 5.0}),
    (["limits.ttft={p90: 2 s, p99: 5 s}", "limits.ttft.p90=3s"], {"p90": 3.0, "p99": 5.0}),
    (["limits.ttft.p99=9s", "limits.ttft=5s"], {"mean": 5.0, "p99": 9.0}),
    (["limits.ttft=5s", "limits.ttft=null"], None)])
def test_limits_of_one_time_add_up(settings, stated):
    assert load_goal(NAME, settings).limits.times.get("ttft") == stated


@pytest.mark.parametrize(("times", "stated"), [
    ("{p90: 4 s, p50: 1 s}", 4.0), ("{p90: 4 s, mean: 3 s}", 3.0), ("{p99: 4 s, mean: 5 s}", 4.0),
    ("{p50: 60 ms}", None)])
def test_the_mean_is_compared_with_percentiles_from_the_upper_quartile_on(times, stated):
    limits = stated_limits(load_goal(NAME, [f"limits.ttft={times}", "limits.tpot=null"]))
    assert limits == ({} if stated is None else {"ttft": stated})


HOUR = Amount.exactly(0.5, "USD/s")


def asked(*settings, **more):
    goal = load_goal(NAME, ["limits.tpot=null", "limits.ttft=null", *settings])
    return Wishes(**{"goal": goal, "objectives": {"cards": -1, "tpot": -1}, "own": 1,
                     "hours": {"nvidia-h20": HOUR}, "unpriced": ()} | more)


def columns(**more):
    return {name: np.array(values, float) for name, values in (
        {"devices": [8, 16], "throughput": [400, 3200]} | more).items()}


def test_energy_cost_and_throughput_of_a_card():
    """8 cards at 0.5 USD/s that give 400 tokens a second take 0.01 USD a token."""
    derived = asked().with_derived(columns(power=[4000, 8000]), "nvidia-h20")
    assert derived["throughput_per_card"].tolist() == [50, 200]
    assert derived["energy"].tolist() == [10, 2.5]
    assert derived["cost"] == pytest.approx([1e4, 2.5e3])
    assert asked().with_derived(columns(), "ascend-910b2")["cost"].tolist() == [np.inf] * 2
    assert "cost" not in asked(hours={}).with_derived(columns(), "ascend-910b2")


def test_each_of_two_pools_is_paid_at_the_price_of_its_own_cards():
    """3 cards at 2 USD/s and 5 at 0.5 USD/s for 100 tokens a second."""
    both = asked(hours={"nvidia-h20": HOUR, "nvidia-h200-sxm": Amount.exactly(2.0, "USD/s")})
    pair = columns(devices=[8], throughput=[100]) | {
        "prefill devices": np.array([3.0]), "decode devices": np.array([5.0])}
    assert [both.of_pair(pair, *map(both.hour, pools))["cost"].tolist() for pools in (
        ("nvidia-h200-sxm", "nvidia-h20"), ("nvidia-h20", "nvidia-h200-sxm"),
        ("ascend-910b2", "nvidia-h20"))] == [[8.5e4], [11.5e4], [np.inf]]


def test_excess_over_limits_and_what_serves_nothing():
    limits = asked("limits.tpot=50 ms", "limits.throughput=1000 token/s")
    excess = limits.excess(columns(tpot=[0.05, 0.06], throughput=[500, 1000]))
    assert excess["tpot"] == pytest.approx([0, 0.2])
    assert excess["throughput"] == pytest.approx([1, 0])
    none = columns(devices=[8], throughput=[0], tpot=[1])
    assert limits.excess(none)["throughput"].tolist() == [np.inf]
    assert limits.with_derived(none, "nvidia-h20")["cost"].tolist() == [np.inf]


def test_price_is_stated_or_derived_from_the_server():
    goal = load_goal("r1-80-users-h20", ["devices=nvidia-h20,ascend-910b2"])
    derived = wishes(Space(goal)).hours
    assert {hour.kind for hour in derived.values()} == {"derived"}
    assert all(hour.low < hour.value < hour.high for hour in derived.values())
    stated = wishes(Space(with_price(goal, "2 USD/h"))).hours
    assert [hour.per("USD/h")[0] for hour in stated.values()] == [2.0, 2.0]


def test_limits_are_objectives_after_those_of_the_goal():
    """A TTFT has no bound from a decode step: it is one of margins alone."""
    name = "r1-80-users-h20"
    plain = wishes(Space(load_goal(name)))
    assert plain.objectives == plain.chosen == {"cards": -1, "tpot": -1}
    assert list(plain.margins.items()) == [("cards", -1), ("tpot", -1), ("ttft", -1)]
    rate = wishes(Space(load_goal(name, ["limits.throughput=100 token/s", "objectives=context"])))
    assert list(rate.objectives.items()) == [
        ("longest_context", 1), ("tpot", -1), ("throughput", 1)]
