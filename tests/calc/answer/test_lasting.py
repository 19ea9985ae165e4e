"""How many requests are in flight of those who ask, and whose steady state is told: by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.answer import simulated as simulation
from calc.answer import steady_state, users
from calc.answer.steady_state import CACHE, STEADY, Lasting, as_simulated, lasting, simulated
from calc.answer.users import UserLoad
from calc.uncertainty.amount import Amount

PROMPT, PACE, THINKING = 0.5, 0.1, 3.0


def quantities(inputs, attention="gqa"):
    """A stay of 2 s and 0.1 s for each request in flight, half a second of it the prompt's."""
    in_flight = np.asarray(inputs["concurrency"], float)
    stay = 2 + PACE * in_flight
    rate = in_flight / stay
    return {"steady_ttft": np.full(in_flight.shape, PROMPT), "steady_tpot": 0.01 * in_flight,
            "steady_e2e": stay, "steady_throughput": 7 * rate, "cache_occupied": in_flight / 100,
            "steady_request_throughput": rate, "steady_users": rate * (stay + THINKING),
            "cache_deviation": in_flight / 1000, "cache_overflow": np.zeros(in_flight.shape)}


@pytest.fixture(autouse=True)
def by_hand(monkeypatch):
    monkeypatch.setattr(steady_state, "evaluate", quantities)
    monkeypatch.setattr(steady_state, "doubts", lambda q, found: {
        "crowded": np.asarray(q.concurrency) > 10, "never": False})
    monkeypatch.setattr(steady_state, "pool_replicas", lambda q, ratio: 3 * ratio)


def asked(rate=None, coordination="eager", ranks=1, **inputs):
    """A deployment of so many requests at most, and what is known of it."""
    scenario = SimpleNamespace(
        model=SimpleNamespace(attention="gqa"),
        file=SimpleNamespace(prefill_coordination=coordination, workload=SimpleNamespace(
            arrivals="named", arrival_rate=None if rate is None else SimpleNamespace(value=rate))))
    given = {"concurrency": 30.0, "open_arrivals": float(rate is not None), "think_time": 0.0,
             "separate_pools": 0.0, "tensor_parallel": 1.0, "expert_parallel": float(ranks),
             "expert_tensor_parallel": 0.0} | inputs
    return scenario, given, {name: float(value) for name, value in quantities(given).items()} | {
        "pool_ratio": 2.0}


class TestInFlight:
    def test_of_a_burst_all_are(self):
        found = lasting(*asked())
        assert (found.arrivals, found.in_flight, found.keeps_up) == ("named", 30.0, True)
        assert found.values == {"steady_ttft": 0.5, "steady_tpot": 0.3, "steady_e2e": 5.0,
                                "steady_throughput": 42.0}
        assert found.cache == {"cache_occupied": 0.3, "cache_deviation": 0.03,
                               "cache_overflow": 0.0}
        assert found.doubts == ("crowded",)
        assert (set(found.values), set(found.cache)) == (set(STEADY), set(CACHE))

    @pytest.mark.parametrize("rate", [0.5, 3.0, 4.0, 5.9])
    def test_of_independent_arrivals_as_many_as_come_during_a_stay(self, rate):
        """n = rate (2 + n/10)."""
        found, count = lasting(*asked(rate)), 2 * rate / (1 - rate / 10)
        assert found.in_flight == pytest.approx(count, rel=1e-3)
        assert found.values["steady_throughput"] == pytest.approx(7 * rate, rel=1e-3)
        assert found.values["steady_e2e"] == pytest.approx(2 + count / 10, rel=1e-3)
        assert found.cache["cache_occupied"] == pytest.approx(count / 100, rel=1e-3)
        assert found.doubts == (("crowded",) if count > 10 else ())

    def test_a_rate_is_let_out_up_to_that_of_all_requests_planned(self):
        """Of thirty: 30/5 a second."""
        assert lasting(*asked(5.999)).keeps_up
        assert lasting(*asked(6.01)) == Lasting("named", 30.0, {}, {})

    def test_a_prompt_in_another_pool_takes_no_place(self):
        """At r a second r/2 prefill: places for 30 are full at n = 30 + r/2 in flight."""
        rate = 6.0
        for _ in range(50):  # n = r (2 + n/10), of which r/2 take no place
            rate = (30 + rate / 2) / (2 + (30 + rate / 2) / 10)
        apart = {"separate_pools": 1.0}
        assert lasting(*asked(0.995 * rate, **apart)).keeps_up
        assert not lasting(*asked(1.005 * rate, **apart)).keeps_up
        assert rate > 6.01

    @pytest.mark.parametrize("most", [1.0, 2.0, 30.0])
    def test_of_users_who_think_those_who_do_not(self, most):
        """n (1 + 3/(2 + n/10)) are n in flight and those who think."""
        found = lasting(*asked(think_time=THINKING, concurrency=most))
        count = found.in_flight
        assert count * (1 + THINKING / (2 + PACE * count)) == pytest.approx(max(
            most, 1 + 3 / 2.1), rel=1e-3)
        assert found.keeps_up

    def test_the_other_pool_is_that_of_all_who_may_be_in_flight(self):
        given = asked(separate_pools=1.0)
        assert steady_state._planned(*given[1:]) == {"prefill_replicas": 6.0}
        assert steady_state._planned(*asked()[1:]) == {}


class TestDoubts:
    @pytest.mark.parametrize(("coordination", "ranks", "told"), [
        ("balance", 2, True), ("balance", 1, False), ("eager", 2, False)])
    def test_ranks_that_balance_their_requests_are_simulated(self, coordination, ranks, told):
        found = lasting(*asked(coordination=coordination, ranks=ranks)).doubts
        assert ("balanced" in found) is told

    def test_each_is_asked_where_the_requests_in_flight_are(self):
        scenario, given, _ = asked()
        swept = given | {"concurrency": np.array([5.0, 20.0])}
        assert [steady_state._doubts(scenario, swept, {}, at) for at in (0, 1)] == [
            (), ("crowded",)]
        assert steady_state._doubts(scenario, given, {}, 7) == ("crowded",)


STEADILY = Lasting("poisson", 9.0, {"steady_ttft": 0.5, "steady_tpot": 0.02, "steady_e2e": 4.0,
                                    "steady_throughput": 100.0}, {}, ("crowded",))


def told(ttft=1.0, tpot=0.05, e2e=2.0, throughput=50.0, share=0.25):
    mean = {name: SimpleNamespace(mean=value) for name, value in (
        ("ttft", ttft), ("tpot", tpot), ("e2e", e2e))}
    return SimpleNamespace(**mean, share=share, keeps_up=True, summary=SimpleNamespace(
        output_throughput=throughput, steady=True))


class TestAsSimulated:
    AMOUNTS = {name: Amount(2.0, 1.0, 8.0, "s", central=3.0)  # noqa: RUF012
               for name in (*STEADY, "ttft")}

    def test_values_and_intervals_move_by_what_the_simulation_gives_over_the_closed_form(self):
        found = as_simulated(self.AMOUNTS, STEADILY, told())
        for name, factor in (("steady_ttft", 2.0), ("steady_tpot", 2.5), ("steady_e2e", 0.5),
                             ("steady_throughput", 2.0), ("ttft", 1.0)):
            amount = found[name]
            assert (amount.value, amount.low, amount.high, amount.central) == pytest.approx(
                (2 * factor, factor, 8 * factor, 3 * factor)), name

    def test_what_nobody_has_or_nothing_moves_stays(self):
        exact = {**self.AMOUNTS, "steady_throughput": Amount.exactly(2.0)}
        found = as_simulated(exact, STEADILY, told(tpot=math.nan))
        assert found["steady_tpot"] == self.AMOUNTS["steady_tpot"]
        assert found["steady_throughput"] == exact["steady_throughput"]
        less = {"steady_e2e": Amount(2.0, 1.0, 8.0)}
        assert as_simulated(less, STEADILY, told()).keys() == {"steady_e2e"}

    def test_without_a_simulation_all_is_as_it_was(self):
        assert as_simulated(self.AMOUNTS, STEADILY, None) == self.AMOUNTS
        assert as_simulated(self.AMOUNTS, None, told()) == self.AMOUNTS


def deployment(name="one", **inputs):
    return SimpleNamespace(
        id=name, inputs=lambda: {"separate_pools": 0.0, "x": 1.0} | inputs, variations=None,
        model=SimpleNamespace(attention="gqa"), file=SimpleNamespace(
            scheduling="mixed", prefill_coordination="eager", prefill_delay_steps=None,
            workload=SimpleNamespace(model_dump_json=lambda exclude: "load")))


class TestSimulated:
    """What is simulated where the closed form does not hold, once in a process."""

    @pytest.fixture(autouse=True)
    def forgotten(self):
        steady_state._simulated.cache_clear()
        yield
        steady_state._simulated.cache_clear()

    @pytest.fixture
    def runs(self, monkeypatch):
        """What is asked of a simulation that costs a tenth of a millisecond a request."""
        seen = []
        monkeypatch.setattr(simulation, "system_of", lambda scenario, found: dict(found))
        monkeypatch.setattr(users, "asked_of", lambda scenario: UserLoad(
            20, together=True, requests=20))
        monkeypatch.setattr(users, "cycle", lambda scenario, asked: 5.0)
        monkeypatch.setattr(users, "cost", lambda system, asked, ramp: 1e-4)
        monkeypatch.setattr(users, "cost_of_chunks", lambda system: 0.0)

        def users_see(scenario, asked, *, system, wanted):
            seen.append((scenario.id, asked, system, wanted))
            return told()

        monkeypatch.setattr(users, "users_see", users_see)
        return seen

    def test_users_who_begin_together_ask_again(self, runs):
        assert simulated(deployment(), STEADILY, {"x": 2.0}) is not None
        assert runs == [("one", UserLoad(20), {"x": 2.0}, users.MEANS)]

    def test_what_holds_or_has_no_bound_or_two_pools_is_not(self, runs):
        holds = Lasting(None, 9.0, STEADILY.values, {})
        growing = Lasting(None, 9.0, {}, {}, ("crowded",))
        assert [simulated(deployment(), each) for each in (holds, growing)] == [None, None]
        assert simulated(deployment(separate_pools=1.0), STEADILY) is None
        assert runs == []

    def test_a_deployment_is_simulated_once_with_the_same_inputs(self, runs):
        first = simulated(deployment(), STEADILY)
        assert simulated(deployment(), STEADILY) is first
        for other in (deployment(x=3.0), deployment("two")):
            simulated(other, STEADILY)
        simulated(deployment(), STEADILY, {"x": 4.0})
        assert len(runs) == 4

    @pytest.mark.parametrize(("load", "cost", "chunks", "is_run"), [
        # four requests of each of the users and 200 besides, in ten seconds
        (UserLoad(20), 0.0357, 0.0, True), (UserLoad(20), 0.0358, 0.0, False),
        (UserLoad(20), 0.0, 0.0357, True), (UserLoad(20), 0.0, 0.0358, False),
        (UserLoad(20), 0.03, 0.03, True),
        # a rate of 4 for five seconds is as many
        (UserLoad(rate=4.0), 0.0357, 0.0, True), (UserLoad(rate=4.0), 0.0358, 0.0, False)])
    def test_what_takes_longer_than_ten_seconds_is_not(
            self, monkeypatch, runs, load, cost, chunks, is_run):
        monkeypatch.setattr(users, "asked_of", lambda scenario: load)
        monkeypatch.setattr(users, "cost", lambda system, asked, ramp: cost)
        monkeypatch.setattr(users, "cost_of_chunks", lambda system: chunks)
        assert (simulated(deployment(), STEADILY) is not None) is is_run
        assert bool(runs) is is_run

    @pytest.mark.parametrize(("steady", "keeps_up"), [(False, True), (True, False)])
    def test_a_run_without_a_steady_part_says_nothing(self, monkeypatch, runs, steady, keeps_up):
        monkeypatch.setattr(users, "users_see", lambda *_, **__: SimpleNamespace(
            summary=SimpleNamespace(steady=steady), keeps_up=keeps_up))
        assert simulated(deployment(), STEADILY) is None
