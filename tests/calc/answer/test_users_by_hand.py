"""How long a simulation of users is, and what is made of it: by hand, and nothing is simulated."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.answer import users
from calc.answer.users import (
    CYCLES,
    LoadResult,
    UserLoad,
    asked_of,
    seen_by_users,
    users_see,
    workload_of,
)
from calc.serving.arrivals import ClosedLoop, Prefixes
from calc.serving.metrics import Latency
from catalogue import ParamsError


def times(values, mean=1.0, half_width=0.0):
    return Latency(mean, half_width, 2.0, 3.0, 4.0, np.array(values, float), 2)


def engines(replicas=2, ranks=1, decode=None, chunk=8):
    return SimpleNamespace(
        pool=SimpleNamespace(replicas=replicas, ranks=ranks,
                             limits=SimpleNamespace(max_num_batched_tokens=chunk)),
        decode=decode, at_once=9, shape=(100, 60, 20), lengths=None)


class TestCost:
    @pytest.mark.parametrize(("load", "engine", "beside"), [
        (UserLoad(8), engines(), 4), (UserLoad(1), engines(), 1), (UserLoad(90), engines(), 9),
        (UserLoad(rate=3.0), engines(), 6),
        (UserLoad(8), engines(decode=SimpleNamespace(replicas=4)), 2)])
    def test_a_request_shares_its_steps_with_those_beside_it(self, load, engine, beside):
        """A turn takes 4 s; 60 steps of an answer."""
        assert users.cost(engine, load, 4.0) == pytest.approx(
            1e-4 + 1e-6 * beside + 4e-6 * 60 / beside)

    @pytest.mark.parametrize(("chunk", "further"), [
        (100, 0), (10, 0), (9, 1), (8, 2), (1, 72)])
    def test_a_prompt_of_many_chunks_costs_those_beyond_a_few(self, chunk, further):
        """80 of 100 tokens are to be computed."""
        assert users.cost_of_chunks(engines(chunk=chunk)) == pytest.approx(4e-4 * further)


class TestParts:
    @pytest.mark.parametrize(("asked", "kept"), [
        (4000, 1), (1000, 2), (999, 2), (500, 4), (250, 8), (10, 8)])
    def test_as_few_groups_as_give_a_thousand_requests_besides_four_each(
            self, monkeypatch, asked, kept):
        monkeypatch.setattr(users, "replace", lambda of, **new: SimpleNamespace(
            **vars(of) | new))
        system = engines(16, 2)
        system.front_end_rate = 80.0
        part, share = users._part(system, UserLoad(asked))
        assert (part.pool.replicas, share, part.front_end_rate) == (2 * kept, kept / 8, 10 * kept)

    @pytest.mark.parametrize(("system", "asked"), [
        (engines(8, decode=SimpleNamespace(replicas=4)), UserLoad(4000)),
        (engines(8, 8), UserLoad(4000)), (engines(8), UserLoad(rate=1.0))])
    def test_pools_one_group_and_independent_arrivals_stay_whole(self, system, asked):
        assert users._part(system, asked) == (system, 1.0)


class TestWorkload:
    SYSTEM = SimpleNamespace(shapes=[(10, 3)], overhead=0.25)

    def test_users_think_and_wait_for_what_comes_before_the_scheduler(self):
        some = Prefixes(2, 5)
        assert workload_of(self.SYSTEM, UserLoad(7, 2.0), 30, 9.0, 4, some) == ClosedLoop(
            7, 30, [(10, 3)], 2.25, True, 9.0, 4, some)
        assert workload_of(self.SYSTEM, UserLoad(7), 5, 9.0) == ClosedLoop(
            7, 7, [(10, 3)], 0.25, False, 9.0)
        assert workload_of(self.SYSTEM, UserLoad(7, together=True), 30, 9.0) == ClosedLoop(
            7, 30, [(10, 3)], 0.25)

    def test_independent_arrivals_have_their_rate_and_perhaps_prefixes(self):
        plain = workload_of(self.SYSTEM, UserLoad(rate=5.0), 2000, 9.0, 1)
        assert plain[-1].arrival == pytest.approx(400, rel=0.1)
        assert {request.texts for request in plain} == {()}
        shared = workload_of(self.SYSTEM, UserLoad(rate=5.0), 2000, 9.0, 1, Prefixes(2, 5))
        assert [each.arrival for each in shared] == [each.arrival for each in plain]
        assert {each.texts[0] for each in shared} == {((0,), 5), ((1,), 5)}

    def test_a_cycle_is_a_stay_of_so_many_and_the_thinking(self, monkeypatch):
        monkeypatch.setattr(users, "evaluate", lambda inputs, attention: {
            "e2e": inputs["concurrency"] / 10})
        of = SimpleNamespace(inputs=lambda: {"concurrency": 32.0},
                             model=SimpleNamespace(attention="gqa"))
        assert users.cycle(of, UserLoad(50, 2.0)) == 7.0
        assert users.cycle(of, UserLoad(rate=3.0)) == pytest.approx(3.2)

    def test_users_see_the_time_before_the_scheduler_as_well(self):
        from calc.serving.metrics import Summary

        one = times([1.0, 2.0], 1.5)
        found = seen_by_users(Summary(2, 0.0, 1.0, True, one, one, one, one, 4.0, 8.0, 4.0, 1.0,
                                      3.0, {}, 0, 5.0, 0.0, 0), 0.5)
        assert (found.wait.mean, found.ttft.mean, found.tpot.mean, found.e2e.mean) == (
            1.5, 2.0, 1.5, 2.0)
        assert found.concurrency == 5.0


def stated(**workload):
    given = {"arrival_rate": None, "concurrency": 32, "requests": None, "think_time": None,
             "arrivals": None} | workload
    return SimpleNamespace(file=SimpleNamespace(workload=SimpleNamespace(**{
        name: SimpleNamespace(value=value) if isinstance(value, (int, float)) else value
        for name, value in given.items()})))


@pytest.mark.parametrize(("workload", "asked"), [
    ({}, UserLoad(32)), ({"think_time": 3}, UserLoad(32, 3.0)),
    ({"arrival_rate": 0.5, "arrivals": "poisson"}, UserLoad(rate=0.5)),
    ({"arrivals": "burst"}, UserLoad(32, together=True, requests=32)),
    ({"arrivals": "burst", "requests": 70}, UserLoad(32, together=True, requests=70))])
def test_what_a_workload_asks(workload, asked):
    assert asked_of(stated(**workload)) == asked


class TestPrecision:
    def test_four_times_the_requests_halve_an_error(self):
        summary = SimpleNamespace(ttft=times([1, 2], 2.0, 0.4), tpot=times([1, 2], 4.0, 0.2),
                                  e2e=times([], 1.0, 9.0))
        assert users._factor(summary, {"ttft": (None,), "tpot": (None,)}) == pytest.approx(4)
        assert users._factor(summary, {"tpot": (None,), "e2e": (None, 0.9)}) == pytest.approx(0.25)
        assert users._factor(summary, {"e2e": (0.5,)}) == 0
        assert users._factor(summary, {"ttft": (0.5,)}) == math.inf  # of two requests
        assert users._factor(summary, {}) == 0

    def test_a_mean_without_an_interval_is_not_known(self):
        assert users._error(times([1, 2], 2.0, math.nan), None) == math.inf

    def test_a_percentile_has_the_error_of_its_interval(self):
        some = times([1, 2, 3, 4, 5] * 200)
        assert users._error(some, 0.5) == some.at(0.5).error
        assert users._error(some, 0.5) < 1


class TestLong:
    """How many requests are simulated: four each until it is steady, and a thousand besides."""

    def counts(self, monkeypatch, asked, cost, factors=(0.0,), chunks=0.0, system=None):
        """Requests of each run, and what comes of it."""
        seen, left = [], list(factors)

        def _run(part, load, count, ramp, seed):
            seen.append((load.users, load.rate, count, ramp, seed))
            return SimpleNamespace(), len(seen)

        monkeypatch.setattr(users, "DEAREST", 2.0)
        monkeypatch.setattr(users, "cycle", lambda scenario, asked: 10.0)
        monkeypatch.setattr(users, "cost", lambda part, load, ramp: cost)
        monkeypatch.setattr(users, "cost_of_chunks", lambda part: chunks)
        monkeypatch.setattr(users, "_run", _run)
        monkeypatch.setattr(users, "_factor", lambda summary, wanted: left.pop(0)
                            if len(left) > 1 else left[0])
        monkeypatch.setattr(users, "keeps_up", lambda run: False)
        found = users_see(SimpleNamespace(id="one"), asked, system=system or engines(1), seed=3)
        assert {(ramp, seed) for *_, ramp, seed in seen} == {(10.0, 3)}
        assert found.summary == len(seen)
        return [count for _, _, count, *_ in seen], found

    @pytest.mark.parametrize(("asked", "cost", "factors", "counts", "precise"), [
        (UserLoad(50), 1e-3, (1.0,), [1200], True),
        (UserLoad(50), 1e-3, (1.5, 0.9), [1200, 1700], True),
        (UserLoad(50), 1e-3, (3.0, 1.1), [1200, 2000], False),
        (UserLoad(50), 4e-3, (9.0,), [700], False),  # 500 are what it may take
        (UserLoad(50), 1e-2, (9.0,), [400], False),  # and 200 the fewest
        (UserLoad(50), 1.0, (9.0,), [400], False),
        (UserLoad(300), 1e-2, (9.0,), [1500], False),
        (UserLoad(rate=5.0), 1e-3, (0.5,), [1200], True),
        (UserLoad(rate=5.01), 1e-3, (0.5,), [1204], True),
        (UserLoad(30, together=True, requests=77), 1e-3, (9.0,), [77], False)])
    def test_as_many_as_that_takes(self, monkeypatch, asked, cost, factors, counts, precise):
        made, found = self.counts(monkeypatch, asked, cost, factors)
        assert (made, found.precise) == (counts, precise)
        assert (found.asked, found.share, found.seed) == (asked, 1.0, 3)
        assert found.keeps_up is (asked.rate is None)

    def test_chunks_count_in_what_it_takes(self, monkeypatch):
        assert self.counts(monkeypatch, UserLoad(50), 1e-3, chunks=3e-3)[0] == [700]

    def test_a_part_of_the_replicas_has_its_part_of_the_users(self, monkeypatch):
        many = engines(8)
        monkeypatch.setattr(users, "_part", lambda system, asked: (system, 0.25))
        made, found = self.counts(monkeypatch, UserLoad(1000), 1e-3, system=many)
        assert (made, found.share) == ([CYCLES * 250 + 1000], 0.25)
        assert self.counts(monkeypatch, UserLoad(1), 1e-3, system=many)[0] == [CYCLES + 1000]

    def test_what_cannot_be_simulated_is_said_of_the_deployment(self, monkeypatch):
        monkeypatch.setattr(users, "cycle", lambda scenario, asked: 10.0)

        def _run(*_):
            raise ValueError("there is nothing.")

        monkeypatch.setattr(users, "_run", _run)
        with pytest.raises(ParamsError, match=r"^'one': there is nothing\.$"):
            users_see(SimpleNamespace(id="one"), UserLoad(3), system=engines(1))


def test_a_result_tells_what_was_simulated():
    summary = SimpleNamespace(ttft=times([], half_width=0.5), tpot=times([], half_width=math.nan),
                              e2e=times([]), requests=12)
    found = LoadResult(UserLoad(3), summary, None, True, False, 0.5, 7)
    assert found.as_json() == {"requests": 12, "seed": 7, "precise": False, "share": 0.5,
                               "lengths": None, "ttft_half_width": 0.5, "tpot_half_width": None}
    assert (found.ttft, found.tpot, found.e2e) == (summary.ttft, summary.tpot, summary.e2e)
