"""A day and a replica whose closed form is told, by hand: what is paid, promised and simulated."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from calc.capacity import day as days
from calc.capacity import replicas as replicas_
from calc.capacity.day import Checked, Day, Hour
from calc.capacity.replicas import Limits, Replica, ReplicaMetrics, fewest

SEEN = ReplicaMetrics(1.0, 2.0, 3.0, 4.0, 5.0, math.inf, 0.5)


def a_day(counts, checked=(), start=50.0):
    return Day(864_000.0, 4.0, 9.0, 3, tuple(Hour(1.0, count, 0.5, SEEN) for count in counts),
               max(counts), start, checked)


@pytest.mark.parametrize(("counts", "started"), [
    ([1, 4, 2], 3), ([4, 1, 1], 3), ([1, 1, 4], 3), ([2, 2, 2], 0), ([1, 3, 1, 2], 3)])
def test_scaled_cards_run_what_each_hour_needs_and_start_before_it(counts, started):
    """Three cards a replica; the first hour comes after the last."""
    found = a_day(counts)
    assert found.scaled == 3 * (3600 * sum(counts) + 50 * started)
    assert found.saved == pytest.approx(1 - found.scaled / (max(counts) * 3 * 86_400))


def test_all_cards_are_paid_of_as_many_replicas_as_the_simulation_asked_for():
    missed, met = (Checked(number, 10, 1.0, 1.0, number == 6) for number in (5, 6))
    found = a_day([1, 4], (missed, met))
    assert (found.replicas, found.bought) == (4, 6)
    assert found.fixed == 6 * 3 * 86_400
    assert found.utilisation == pytest.approx(10 / (6 * 4))
    assert a_day([1, 4], (missed,)).bought == 4
    assert a_day([1, 4], (replace(met, replicas=2),)).bought == 4
    told = found.as_json()
    assert (told["replicas"], told["replicas_unchecked"], told["devices"]) == (6, 4, 18)
    assert told["hours"][1] == {"rate": 1.0, "replicas": 4, "busy": 0.5, "in_flight": 2.0,
                                "ttft": 3.0, "tpot": 4.0, "ttft_at": 5.0, "tpot_at": None}
    assert told["checked"][0]["met"] is False


@pytest.mark.parametrize(("ttft", "tpot", "says"), [
    (2.0, 9.0, "has a TTFT of 3 s, above 2 s"), (9.0, 3.0, "has a TPOT of 4 s, above 3 s"),
    (3.0, 4.0, "too many requests miss the limits even alone")])
def test_what_a_request_alone_misses_is_named(ttft, tpot, says):
    replica = SimpleNamespace(seen=lambda rate, share: {0.0: SEEN}[rate],
                              scenario=SimpleNamespace(id="mine"))
    assert says in days.alone_misses(replica, Limits(ttft, tpot))
    assert days.alone_misses(replica, Limits(ttft, tpot)).startswith("'mine': ")


@pytest.mark.parametrize(("enough", "tried"), [(4, [4]), (6, [4, 5, 6]), (99, list(range(4, 12)))])
def test_replicas_are_added_until_the_busiest_hour_is_met_or_eight_were_tried(
        monkeypatch, enough, tried):
    asked = []

    def simulated(system, rate, count, limits, vary, seed):
        asked.append((system, rate, limits, vary, seed))
        return Checked(count, 10, 1.0, 1.0, count >= enough)

    monkeypatch.setattr(days, "simulated", simulated)
    monkeypatch.setattr(days, "system_of", lambda scenario: scenario)
    monkeypatch.setattr(days, "_one", lambda system: f"one {system}")
    load = SimpleNamespace(variation=SimpleNamespace(value=0.3))
    found = a_day([1, 4])
    hours = found.hours[0], replace(found.hours[1], rate=24.0)
    checked = days.check(replace(found, hours=hours), "mine", load, "limits", seed=7).checked
    assert [each.replicas for each in checked] == tried
    assert asked == [("one mine", 24.0 / count, "limits", 0.3, 7) for count in tried]


@pytest.mark.parametrize(("rate", "count"), [(0.01, 1000), (1.0, 3600), (9.0, 6000)])
def test_of_a_run_the_first_and_the_last_tenth_do_not_count(monkeypatch, rate, count):
    """First tokens of 1, 2, 3, …; tokens of a tenth; an answer of one token has none."""
    asked = []
    monkeypatch.setattr(days, "modulated", lambda *given: asked.append(given))
    monkeypatch.setattr(days, "simulate", lambda arrivals, pool: SimpleNamespace(outcomes=[
        SimpleNamespace(ttft=place, tpot=math.nan if place % 2 else place / 10)
        for place in range(count)]))
    system = SimpleNamespace(shapes="shapes", pool="pool", overhead=0.5)
    tenth = count // 10
    kept = np.arange(tenth, count - tenth)
    limits = Limits(float(kept.mean()) + 0.5, float(kept[::2].mean()) / 10, None)
    found = days.simulated(system, rate, 3, limits, 0.2, 5)
    assert asked == [(rate, 0.2, 60.0, count, "shapes", 5)]
    assert (found.replicas, found.requests, found.met) == (3, len(kept), True)
    assert (found.ttft, found.tpot) == pytest.approx((limits.ttft, limits.tpot))
    assert not days.simulated(system, rate, 3, replace(limits, ttft=limits.ttft - 1), 0.2).met
    assert not days.simulated(system, rate, 3, replace(limits, tpot=limits.tpot - 1), 0.2).met
    share = days.simulated(system, rate, 3, Limits(share=0.25), 0.2)
    assert share.ttft == pytest.approx(np.quantile(kept, 0.25) + 0.5)


# --- a replica ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("limits", "meets"), [
    (Limits(3.0, 4.0, None), True), (Limits(2.9, 4.0, None), False),
    (Limits(3.0, 3.9, None), False), (Limits(5.0, math.inf), True), (Limits(4.9, math.inf), False),
    (Limits(5.0, 9.0), False), (Limits(), True)])
def test_limits_hold_for_the_mean_or_at_the_percentile(limits, meets):
    assert SEEN.meets(limits) is meets


@pytest.mark.parametrize(("rate", "count"), [(0.0, 1), (2.0, 1), (2.001, 2), (4.0, 2), (4.1, 3)])
def test_as_many_replicas_as_a_rate_needs_and_a_digit_of_a_float_is_none_more(rate, count):
    assert fewest({"x": rate}, 2.0) == {"x": count}
    assert fewest({"x": rate * (1 + 1e-12)}, 2.0) == {"x": count}


class Queue(Replica):
    """A queue of mean stay 1/(10 - λ), whose simulation has so many times that."""

    def __init__(self, factor, doubted=0.0):
        self.factor, self.doubted, self.ranks, self._given = factor, doubted, 4, {"a": 1.0}
        self.scenario, self._simulated, self.asked = "mine", {}, []

    @property
    def saturation(self):
        return 10.0

    def in_doubt(self, rate):
        return self.doubted < rate < self.saturation

    def seen(self, rate, share=0.99, variation=0.0):
        stay = 1 / (10 - rate)
        return ReplicaMetrics(rate, rate * stay, stay, 2 * stay, 3 * stay, 4 * stay, rate / 10)

    def _factors(self, rate):
        self.asked.append(rate)
        return self.factor(rate)

    def most(self, limits, variation=0.0):
        times = (1, 2) if limits.share is None else (3, 4)
        return max(0.0, 10 - max(times[0] / limits.ttft, times[1] / limits.tpot))


def test_percentiles_move_along_with_the_means_of_a_simulation():
    queue = Queue(lambda rate: (2.0, 3.0, 5.0), doubted=1.0)
    assert queue.metrics(6.0) == ReplicaMetrics(6.0, 5 * 1.5, 2 / 4, 3 * 2 / 4, 2 * 3 / 4, 3 * 1.0,
                                                0.6)
    assert queue.metrics(0.5) == queue.seen(0.5)
    assert queue.asked == [6.0]


@pytest.mark.parametrize(("factor", "limits", "closed", "rate"), [
    ((2.0, 1.0, 1.0), Limits(0.5, share=None), 8.0, 6.0),  # 2/(10 - λ) = 1/2
    ((1.0, 4.0, 1.0), Limits(tpot=1.0, share=None), 8.0, 2.0),  # 4 × 2/(10 - λ) = 1
    ((2.0, 1.0, 1.0), Limits(1.5), 8.0, 6.0)])  # 2 × 3/(10 - λ) = 3/2
def test_a_rate_is_promised_at_which_the_simulation_holds_the_limits(factor, limits, closed, rate):
    """The second run holds them at the very limit, and two more come between it and the first."""
    queue = Queue(lambda rate: factor)
    assert queue.promised(limits) == pytest.approx(rate)
    between = math.sqrt(rate * closed)
    assert queue.asked == pytest.approx([closed, rate, between, math.sqrt(rate * between)])


def test_no_more_is_promised_than_in_closed_form_and_nothing_is_sought_that_is_close():
    fast, near = (Queue(lambda rate, each=each: (each, 1.0, 1.0)) for each in (0.5, 1.15))
    assert fast.promised(Limits(0.5, share=None)) == 8.0
    assert fast.asked == [8.0]
    assert near.promised(Limits(0.5, share=None)) == pytest.approx(7.7)  # 8 is less than 1.05 ×
    assert near.asked == pytest.approx([8.0, 7.7])


def test_where_no_rate_is_found_it_is_sought_between_and_the_lowest_is_told():
    """A simulation that never holds the limits and always asks for more than was tried: between
    1/64 of the rate and the last one, four times."""
    queue = Queue(lambda rate: (1e9, 1.0, 1.0))
    found = queue.promised(Limits(0.5, share=None))
    tried = [8.0]
    for _ in range(3):
        tried.append(math.sqrt(8 / 64 * tried[-1]))
    assert queue.asked == pytest.approx(tried)
    assert found == pytest.approx(8 / 64)


def test_a_rate_without_doubt_is_promised_as_it_is():
    queue = Queue(lambda rate: (9.0, 9.0, 9.0), doubted=8.5)
    assert queue.promised(Limits(0.5, share=None)) == 8.0
    assert queue.asked == []


def test_a_rate_nearby_shares_what_was_simulated(monkeypatch):
    runs = []

    def users_see(scenario, load, system, wanted):
        runs.append((scenario, load.rate, system))
        return SimpleNamespace(ttft=SimpleNamespace(mean=1.0), tpot=SimpleNamespace(mean=3.0),
                               e2e=SimpleNamespace(mean=2.0))

    monkeypatch.setattr(replicas_, "users_see", users_see)
    monkeypatch.setattr(replicas_, "system_of", lambda scenario, found: found)
    queue = Queue(None)
    factors = {rate: Replica._factors(queue, rate) for rate in (5.0, 5.49, 4.56, 5.51, 4.54)}
    # 1 over 1/5, 3 over 2/5, 5 × 2 in flight over 5/5
    assert factors[5.0] == pytest.approx((5.0, 7.5, 10.0))
    assert factors[5.49] == factors[4.56] == factors[5.0]
    assert [rate for _, rate, _ in runs] == [5.0, 5.51, 4.54]
    assert runs[0] == ("mine", 5.0, {"a": 1.0, "data_parallel": 4})


class Curve(Replica):
    """Rates 1 to 4, of which the third is in doubt; limits hold up to a rate."""

    def __init__(self, holds=math.inf, alone=True):
        self.holds, self.single = holds, alone
        self.curve = {"steady_request_throughput": np.array([1.0, 2.0, 3.0, 4.0]),
                      "doubted": np.array([0.0, 0.0, 1.0, 0.0])}

    def alone(self, limits):
        return self.single

    def _holds(self, rate, limits, variation):
        return rate <= self.holds


@pytest.mark.parametrize(("rate", "doubt"), [
    (0.0, False), (1.0, False), (2.0, False), (2.1, True), (3.0, True), (3.9, True), (4.0, False),
    (5.0, False)])
def test_a_rate_is_in_doubt_beside_numbers_of_requests_that_are(rate, doubt):
    assert Curve().in_doubt(rate) is doubt


@pytest.mark.parametrize("holds", [0.5, 1.7, 3.99])
def test_the_largest_rate_within_limits_is_found_to_a_ten_thousandth(holds):
    found = Curve(holds).most(Limits())
    assert holds - 4e-4 <= found <= holds
    assert Curve(holds, alone=False).most(Limits()) == 0
    assert Curve().most(Limits()) == pytest.approx(4 * (1 - 1e-4))
