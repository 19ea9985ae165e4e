"""What a pool is watched by: which quantities, from where on they leave their intervals, refusals.
"""

import math
from types import SimpleNamespace as Made

import numpy as np
import pytest
from _door import sentence
from _launch import expected

import catalogue
from calc.closed_form.evaluate import evaluate
from calc.launching.watching.predictions import FARTHEST, POINTS, predicted, runs
from calc.uncertainty.amount import Amount

NAME = "h200-r1-sglang-mtp"
SCENARIO = catalogue.load_scenario(NAME, overrides=[
    "workload.concurrency=24", "workload.input_tokens=3000 token",
    "workload.output_tokens=400 token", "workload.context_tokens=9000 token",
    "mechanisms.prefix_hit_share=0.5", "workload.accepted_length=1.7"])
NUMBERS = SCENARIO.inputs()
QUANTITIES = {name: Amount(value, value / 2, value * reach, unit) for name, value, reach, unit in (
    ("ttft", 2.0, 1.5, "s"), ("tpot", 0.04, 1.05, "s"), ("e2e", 20.0, 2.0, "s"),
    ("output_throughput", 800.0, 2.0, "token/s"), ("steady_ttft", 1.0, 1.25, "s"),
    ("steady_tpot", 0.02, 1.0625, "s"), ("steady_e2e", 10.0, 2.0, "s"),
    ("steady_throughput", 600.0, 2.0, "token/s"))} | {
    "kv_blocks": Amount(1000.0, 800.0, 1250.0, "block")}


def answered(arrivals="closed-loop", blocks=None, keeps_up=True, **cache):
    """A deployment that runs, and how full its cache is."""
    return Made(fits=True, suffices_steadily=True, quantities=QUANTITIES | (
        {"kv_blocks": blocks} if blocks else {}), lasting=Made(
        arrivals=arrivals, keeps_up=keeps_up, in_flight=17.0, cache=cache))


@pytest.mark.parametrize(("arrivals", "ahead", "rate", "in_flight"), [
    ("burst", "", "output_throughput", 24.0), ("closed-loop", "steady_", "steady_throughput", 17.0),
    ("poisson", "steady_", "steady_throughput", 17.0)])
def test_a_burst_is_watched_by_its_own_times_and_all_else_by_those_of_the_steady_state(
        arrivals, ahead, rate, in_flight):
    of = answered(arrivals, cache_occupied=0.4, cache_overflow=0.03)
    found = predicted(SCENARIO, of)
    assert (found.ttft, found.tpot, found.e2e) == tuple(
        QUANTITIES[f"{ahead}{name}"] for name in ("ttft", "tpot", "e2e"))
    assert found.throughput == QUANTITIES[rate]
    value = QUANTITIES[rate].value / 400  # tokens of an answer
    assert found.requests == Amount(value, value / 2, value * 2, "request/s")
    assert (found.planned, found.in_flight, found.burst) == (24.0, in_flight, arrivals == "burst")
    assert (found.prompt, found.answer, found.overflow) == (3000.0, 400.0, 0.03)


@pytest.mark.parametrize(("blocks", "low", "high"), [
    (Amount(1000.0, 800.0, 1250.0), 0.32, 0.5), (Amount(2.0, 0.5, 4.0), 0.2, 0.8),
    (Amount(0.25, 0.125, 0.5), 0.1, 0.1)])
def test_of_fewer_blocks_a_larger_share_is_taken(blocks, low, high):
    """0.4 of those that are likely; of less than one there is one at most."""
    found = predicted(SCENARIO, answered(blocks=blocks, cache_occupied=0.4)).occupied
    assert (found.value, found.low, found.high, found.unit) == (
        0.4, pytest.approx(low), pytest.approx(high), "1")


def test_a_cache_of_which_nothing_is_known_is_not_watched():
    found = predicted(SCENARIO, answered())
    assert (found.occupied, found.overflow) == (None, 0.0)
    none = Amount(0.0, 0.0, 9.0)
    assert predicted(SCENARIO, answered(blocks=none, cache_occupied=0.4)).occupied is None


def at(name, value, quantity):
    """A quantity where one input has a value, and requests are as long as they are then."""
    varied = {**NUMBERS, name: value}
    varied["context_tokens"] = max(NUMBERS["context_tokens"],
                                   varied["input_tokens"] + varied["output_tokens"])
    return float(evaluate(varied, SCENARIO.model.attention)[quantity])


@pytest.mark.parametrize("arrivals", ["burst", "closed-loop"])
@pytest.mark.parametrize(("name", "quantity"), [
    ("input_tokens", "ttft"), ("output_tokens", "tpot"), ("prefix_hit_share", "ttft"),
    ("accepted_length", "tpot")])
def test_a_limit_is_where_an_assumption_alone_leaves_the_interval(arrivals, name, quantity):
    """The first of 400 places that does: from the planned length to 64 times that, and from the
    planned share and acceptance evenly down to no hits and no drafts."""
    watched = quantity if arrivals == "burst" else f"steady_{quantity}"
    limits = predicted(SCENARIO, answered(arrivals)).limits
    own, last = NUMBERS[name], POINTS - 1
    place = np.arange(POINTS) / last
    grid = (own * FARTHEST ** place if name.endswith("tokens") else
            own * (1 - place) if name == "prefix_hit_share" else own ** (1 - place))
    end = QUANTITIES[watched].high / QUANTITIES[watched].value * at(name, own, watched)
    if name not in limits:  # longer answers leave a steady state fewer prompts to wait for
        assert (name, arrivals) == ("output_tokens", "closed-loop")
        assert all(at(name, value, watched) <= end for value in grid[::19])
        return
    first = int(np.argmin(abs(grid - limits[name])))
    assert limits[name] == pytest.approx(grid[first])
    assert at(name, grid[first], watched) > end
    assert at(name, grid[first - 1], watched) <= end


def test_the_planned_lengths_and_shares_of_the_example_all_have_a_limit():
    assert set(predicted(SCENARIO, answered("burst")).limits) == {
        "input_tokens", "output_tokens", "prefix_hit_share", "accepted_length"}


def test_without_hits_and_drafts_neither_has_a_limit():
    plain = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        "mechanisms.prefix_hit_share=0"])
    assert set(predicted(plain, answered("burst")).limits) <= {"input_tokens", "output_tokens"}


def test_what_does_not_run_is_refused_with_the_nearest_that_does():
    unfit = Made(fits=False, suffices_steadily=False, reasons=[Made(text={"en": "it is late."})],
                 nearest=None, lasting=None)
    assert sentence(runs, SCENARIO, unfit) == f"{NAME}: does not run as asked: it is late."
    unfit.nearest = Made(settings={"cluster.nodes": 2})
    assert sentence(runs, SCENARIO, unfit) == (
        f"{NAME}: does not run as asked: it is late. The nearest that runs: --set cluster.nodes=2.")
    unfit.fits = True
    assert "does not say how long its requests are" in sentence(runs, SCENARIO, unfit)


def test_what_runs_in_one_way_or_the_other_is_launched_if_it_keeps_up():
    for fits, steadily in ((True, False), (False, True)):
        kept = answered()
        kept.fits, kept.suffices_steadily = fits, steadily
        runs(SCENARIO, kept)
    assert "faster than they are answered" in sentence(
        runs, SCENARIO, answered(keeps_up=False))


def test_what_is_predicted_is_plain_data():
    data = expected(occupied=None).as_json()
    assert data["occupied"] is None
    assert (data["planned"], data["burst"], data["limits"]["output_tokens"]) == (64.0, False, 700.0)
    assert data["ttft"] == {"value": 0.5, "low": 0.25, "high": 2.0, "unit": "s",
                            "kind": "estimate", "central": 0.5}
    assert math.isclose(expected().as_json()["occupied"]["high"], 0.6)
