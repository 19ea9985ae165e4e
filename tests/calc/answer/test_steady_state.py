"""Requests in flight under the arrivals of a scenario, and the steady state that follows."""

import functools
from dataclasses import replace

import pytest

import calc
import catalogue
from calc.answer.steady_state import (
    CACHE,
    STEADY,
    simulate_steady_state,
    steady_state,
    with_simulation,
)
from calc.uncertainty import Amount

AWQ, PREFILL = "s2-910b1-awq", "wide-lmsys-prefill"
CLOSED = "workload.arrivals=closed-loop"


@functools.cache
def steady(name, *settings):
    scenario = catalogue.load_scenario(name, overrides=settings)
    inputs = scenario.inputs()
    found = calc.evaluate(inputs, scenario.model.attention)
    return steady_state(scenario, inputs, found), inputs, found


def arriving(name, rate, *settings):
    return steady(name, "workload.arrivals=poisson", f"workload.arrival_rate={rate!r} request/s",
                  *settings)


@pytest.mark.parametrize("settings", [(), ("workload.arrivals=burst",), (CLOSED,)])
def test_users_who_do_not_think_are_all_in_flight(settings):
    found, inputs, everything = steady(AWQ, *settings)
    assert (found.in_flight, found.keeps_up) == (inputs["concurrency"], True)
    assert found.values == {name: everything[name] for name in STEADY}
    assert found.cache == {name: everything[name] for name in CACHE}
    assert found.arrivals == (settings[0].partition("=")[2] if settings else None)


@pytest.mark.parametrize("think", [1, 30, 600])
def test_users_who_think_are_in_flight_or_think(think):
    """Little's law over both: rate x (stay + thinking) is the number of users."""
    found, inputs, _ = steady(AWQ, CLOSED, f"workload.think_time={think} s")
    rate = found.values["steady_throughput"] / inputs["output_tokens"]
    assert found.in_flight == pytest.approx(rate * found.values["steady_e2e"])
    assert found.in_flight + rate * think == pytest.approx(inputs["concurrency"])
    more = steady(AWQ, CLOSED, f"workload.think_time={2 * think} s")[0]
    assert more.in_flight < found.in_flight
    assert more.cache["cache_occupied"] < found.cache["cache_occupied"]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.98])
def test_open_arrivals_have_the_requests_of_their_rate_in_flight(share):
    """Little's law: requests in flight are rate x stay, and all that arrive are let out."""
    most = float(steady(AWQ)[2]["steady_request_throughput"])
    found, inputs, _ = arriving(AWQ, share * most)
    rate = found.values["steady_throughput"] / inputs["output_tokens"]
    assert rate == pytest.approx(share * most)
    assert found.in_flight == pytest.approx(rate * found.values["steady_e2e"])
    assert found.keeps_up
    beyond = arriving(AWQ, 1.1 * most)[0]
    assert (beyond.keeps_up, beyond.values, beyond.cache) == (False, {}, {})
    assert beyond.most == pytest.approx(most, rel=0.02)
    assert arriving(AWQ, 0.999 * beyond.most)[0].keeps_up
    alone, everything = calc.evaluate(inputs | {"concurrency": 1}, "mla"), steady(AWQ)[2]
    assert alone["steady_tpot"] < found.values["steady_tpot"] < 1.02 * everything["steady_tpot"]


def test_prompts_of_another_pool_take_no_place():
    """While a request is prefilled elsewhere, another one decodes in its place."""
    name, users = "wide-lmsys-decode", 128
    settings = (f"workload.concurrency={users}", f"workload.requests={users}")
    apart = (*settings, "mechanisms.separate_pools=1")
    everything = steady(name, *apart)[2]
    rate, first, stay = (float(everything[key]) for key in (
        "steady_request_throughput", "steady_ttft", "steady_e2e"))
    assert rate * stay == pytest.approx(users, rel=0.02)
    more = rate * users / (users - rate * first)
    assert more > 1.02 * rate
    assert arriving(name, (rate + more) / 2, *apart)[0].keeps_up
    assert not arriving(name, 1.1 * more, *apart)[0].keeps_up


@pytest.mark.parametrize(("name", "doubts"), [
    ("h200-v32-sglang-dp8", ("balanced",)), ("h200-v32-sglang-tp8", ())])
def test_doubts_about_the_closed_form(name, doubts):
    """Ranks that balance their prompts, and answers of one length, are to be simulated."""
    scenario = catalogue.load_scenario(name)
    balanced = scenario.file.model_copy(update={"prefill_coordination": "balance"})
    assert steady(name)[0].doubts == ()
    assert steady_state(replace(scenario, file=balanced), *steady(name)[1:]).doubts == doubts
    assert steady(name, "workload.length_distribution=constant")[0].doubts == ("equal",)


@pytest.fixture(scope="module")
def seen():
    """A simulation where the closed form does not hold."""
    return simulate_steady_state(catalogue.load_scenario(PREFILL), steady(PREFILL)[0])


@pytest.mark.parametrize(("name", "settings"), [
    (AWQ, ()), ("wide-lmsys-decode", ()), ("wide-cloudmatrix-decode", ()),  # two pools
    ("v4-flash-8xrtx-pro-6000", ("workload.max_num_batched_tokens=4",))])  # 1,024 chunks: too long
def test_not_simulated_where_the_closed_form_holds_or_it_takes_too_long(name, settings):
    scenario = catalogue.load_scenario(name, overrides=settings)
    assert simulate_steady_state(scenario, steady(name, *settings)[0]) is None


def test_not_simulated_without_a_bound():
    doubted = replace(arriving(AWQ, 1e3)[0], doubts=("shared",))
    assert simulate_steady_state(catalogue.load_scenario(AWQ), doubted) is None


def test_simulated_means_take_the_place_of_the_closed_form(seen):
    """Intervals move along; what is exact, or no quantity of a steady state, stays."""
    closed = steady(PREFILL)[0]
    given = {name: Amount(2.0, 1.0, 8.0, "s") for name in (*STEADY, "ttft")}
    given["steady_tpot"] = Amount.exactly(2.0)
    found, rate = with_simulation(given, closed, seen), seen.summary.output_throughput / seen.share
    for name, mean in (("steady_ttft", seen.summary.ttft.mean), ("steady_throughput", rate),
                       ("steady_e2e", seen.summary.e2e.mean)):
        factor = mean / closed.values[name]
        assert found[name].points == pytest.approx((2 * factor, factor, 8 * factor))
    assert [found[name] for name in ("steady_tpot", "ttft")] == [
        given[name] for name in ("steady_tpot", "ttft")]
    assert with_simulation(given, closed, None) == with_simulation(given, None, seen) == given
