"""What a scheduler takes and gives: requests, limits, contexts, outcomes; how much is too much."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from _engines import limits

from calc.serving import saturation
from calc.serving.requests import Contexts, Job, Limits, Outcome, Request, Step
from calc.serving.saturation import keeps_up, saturation_of_ranks, saturation_rate
from calc.serving.scheduling import duration, group_duration
from calc.serving.simulation import Pool

SHAPES = [(10, 3)]


class TestContexts:
    def test_every_request_is_a_token_further_each_step(self):
        some = Contexts((3, 5, 11))
        assert (tuple(some.next()), some.next().total) == ((4, 6, 12), 22)
        assert (tuple(some.next(4)), some.next(4).total) == ((7, 9, 15), 31)
        later = some.next(4).next(2)
        assert (tuple(later), later.total, len(later)) == ((9, 11, 17), 37, 3)
        assert (later[0], later[-1], later[1:]) == (9, 17, (11, 17))
        assert (Contexts((3, 5), 2).total, tuple(Contexts((3, 5), 2))) == (12, (5, 7))

    def test_it_is_its_numbers(self):
        assert Contexts((3, 5), 1) == (4, 6) == Contexts((4, 6))
        assert Contexts((3, 5)) != (3, 6)
        assert Contexts((3, 5)) != 8
        assert hash(Contexts((3, 5), 1)) == hash(Contexts((4, 6)))
        assert repr(Contexts((3, 5), 1)) == "(4, 6)"


class TestRequests:
    def test_the_last_token_is_never_fed(self):
        assert Request(0.0, 7, 3).most_cached == 9
        assert Request(0.0, 1, 1, 0).most_cached == 1

    @pytest.mark.parametrize("wrong", [
        (-0.1, 1, 1), (math.inf, 1, 1), (0.0, 0, 1), (0.0, 1, 0), (0.0, 5, 1, 5), (0.0, 5, 1, -1),
        (0.0, 5, 1, 1, (("a", 3),))])
    def test_what_is_no_request_is_refused(self, wrong):
        with pytest.raises(ValueError, match="expected"):
            Request(*wrong)
        assert Request(0.0, 5, 1, 4).cached_tokens == 4
        assert Request(0.0, 5, 1, 0, (("a", 3),)).texts == (("a", 3),)

    def test_who_comes_with_a_cache_has_a_first_token_and_loses_all_with_it(self):
        fresh, sent = (Job(2, Request(0.0, 7, 3, 4), prefilled=sent) for sent in (False, True))
        assert (fresh.generated, fresh.known, fresh.computed, fresh.base) == (0, 7, 4, 4)
        assert (sent.generated, sent.known, sent.computed, sent.base) == (1, 8, 7, 0)
        assert (fresh.decodes, sent.decodes) == (False, True)
        assert (fresh.hit_tokens, fresh.held, fresh.preemptions, fresh.evicted) == (4, 0, 0, 0)
        sent.known = 9
        assert not sent.decodes

    def test_times_of_an_outcome(self):
        found = Outcome(5, 1.0, 1.5, 3.0, 7.5, 20, 4, 0)
        assert (found.wait, found.ttft, found.tpot, found.e2e) == (0.5, 2.0, 1.5, 6.5)
        assert math.isnan(Outcome(5, 1.0, 1.5, 3.0, 3.0, 20, 1, 0).tpot)
        assert Outcome(5, 1.0, 1.5, 3.0, 4.0, 20, 2, 0).tpot == 1.0


class TestLimits:
    def test_blocks_are_whole_and_a_state_lies_beside_them(self):
        some = Limits(64, 1, kv_blocks=10, block_size=16, state_blocks_per_request=3)
        assert [some.blocks(tokens) for tokens in (0, 1, 16, 17, 33)] == [0, 1, 1, 2, 3]
        assert [some.with_state(tokens) for tokens in (16, 17)] == [4, 5]
        assert some.longest == 7 * 16
        assert Limits(64, 1, kv_blocks=2, block_size=16, state_blocks_per_request=3).longest == 0
        assert Limits(64, 1, kv_blocks=2, block_size=16).longest == 32

    def test_each_text_has_the_whole_blocks_that_those_before_it_leave(self):
        some = Limits(64, 1, block_size=4)
        assert some.spans((("a", 9), ("b", 11), ("c", 22))) == (("a", 0, 2), ("c", 2, 5))
        assert some.spans((("a", 3),)) == ()
        assert some.spans((("a", 4), ("b", 8))) == (("a", 0, 1), ("b", 1, 2))

    @pytest.mark.parametrize("wrong", [
        {"max_num_batched_tokens": 0}, {"max_num_seqs": 0}, {"kv_blocks": 0}, {"block_size": 0},
        {"recv_interval": 0}, {"policy": "fifo"}, {"reserved_output": -0.1},
        {"reserved_output": 1.1}, {"steps_ahead": -1}, {"state_blocks_per_request": -1}])
    def test_under_what_nothing_runs_is_refused(self, wrong):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"{name} is|no {name}"):
            Limits(**{"max_num_batched_tokens": 1, "max_num_seqs": 1} | wrong)
        least = Limits(1, 1, 1, 1, reserved_output=0.0)
        assert (least.reserved_output, Limits(1, 1, reserved_output=1.0).reserved_output) == (0, 1)

    def test_what_an_engine_does_unless_it_is_told(self):
        usual = Limits(1, 1)
        assert (usual.kv_blocks, usual.block_size, usual.policy, usual.whole_prompt_fits) == (
            None, 1, "mixed", True)
        assert (usual.reserved_output, usual.recv_interval, usual.steps_ahead,
                usual.state_blocks_per_request) == (1.0, 1, 0, 0)


class TestDuration:
    STEP = Step(((5, 0), (6, 1)), (7, 8, 9))

    def test_the_gap_is_a_part_of_it(self):
        assert duration(self.STEP, lambda step: 2.0, 0.25) == 2.25
        assert group_duration([self.STEP] * 2, lambda steps: float(len(steps)), 0.5) == 2.5
        assert duration(self.STEP, lambda step: 0.0, 0.0) == 0.0

    @pytest.mark.parametrize("taken", [-1.0, math.inf, math.nan])
    def test_no_time_is_told_with_what_the_step_has(self, taken):
        with pytest.raises(ValueError, match=(
                r"^a step with 2 chunks and 3 decoding requests takes .* s, expected a time")):
            duration(self.STEP, lambda step: taken, 0.25)
        with pytest.raises(ValueError, match=r"^a step with 4 chunks and 4 decoding requests"):
            group_duration([self.STEP, Step(((1, 0), (1, 1)), (3,))], lambda steps: taken, 0.25)


def pool(replicas=1, seqs=1):
    return Pool(limits(seqs=seqs), lambda step: 1.0, replicas=replicas)


class TestSaturation:
    @pytest.fixture
    def asked(self, monkeypatch):
        """What is simulated: the n-th request ends at n squared."""
        seen = []

        def simulate(requests, *pools):
            seen.append(requests)
            return SimpleNamespace(outcomes=[
                SimpleNamespace(finished=float(number * number))
                for number in range(len(requests), 0, -1)])

        monkeypatch.setattr(saturation, "simulate", simulate)
        return seen

    def test_from_the_end_of_the_third_wave_to_that_of_the_ninth(self, asked):
        """Of sixty at once, the 18th ends at 324 s and the 54th at 2916 s."""
        assert saturation_rate(pool(2, 3), SHAPES) == 36 / (54**2 - 18**2)
        assert (len(asked[0]), {request.arrival for request in asked[0]}) == (60, {0.0})

    def test_the_larger_pool_decides_how_many_come(self, asked):
        for one, other in ((pool(2, 3), pool(1, 2)), (pool(1, 2), pool(2, 3))):
            assert saturation_rate(one, SHAPES, other) == 36 / (54**2 - 18**2)

    @pytest.mark.parametrize(("seqs", "waves", "first", "last"), [
        (5, 2, 3, 5), (1, 3, 1, 2), (4, 5, 6, 16), (10, 7, 21, 60)])
    def test_of_fewer_waves_all_but_the_last(self, asked, seqs, waves, first, last):
        assert saturation_rate(pool(1, seqs), SHAPES, waves=waves) == (
            (last - first) / (last**2 - first**2))

    def test_a_single_wave_saturates_nothing(self, asked):
        for waves in (1, 2):
            with pytest.raises(ValueError, match="nothing saturates"):
                saturation_rate(pool(1, 1), SHAPES, waves=waves)

    def test_at_a_rate_they_come_one_by_one(self, asked):
        saturation_rate(pool(50, 4), SHAPES, rate=25.0)
        assert asked[0][-1].arrival == pytest.approx(2000 / 25, rel=0.1)

    @pytest.mark.parametrize(("capacity", "tried"), [
        (99.0, [100.0]), (97.9, [100.0, 97.9**2 / 100]), (50.0, [100.0, 25.0])])
    def test_the_rate_of_ranks_is_lowered_until_what_comes_out_is_what_goes_in(
            self, monkeypatch, capacity, tried):
        seen = []

        def saturation_rate(pool, shapes, waves, rate):
            seen.append((waves, rate))
            return min(rate, capacity)

        monkeypatch.setattr(saturation, "saturation_rate", saturation_rate)
        assert saturation_of_ranks(pool(), SHAPES, 100.0, 7) == pytest.approx(tried[-1])
        assert seen == [(7, pytest.approx(rate)) for rate in tried]

    def test_after_five_runs_it_is_what_came_out(self, monkeypatch):
        """A tenth too little comes out each time, so that the rate falls to 81% of it."""
        monkeypatch.setattr(saturation, "saturation_rate",
                            lambda pool, shapes, waves, rate: 0.9 * rate)
        assert saturation_of_ranks(pool(), SHAPES, 100.0) == pytest.approx(90 * 0.81**4)


def waiting(growth, of_tokens):
    """Arrivals in 1000 s that wait ever longer, by so much a second, for a first token or others.

    Answers have 6 or 16 tokens in turn, 11 on average.
    """
    at = np.arange(1001.0)
    tokens = np.where(at % 2, 6, 16)
    first = at + (0.0 if of_tokens else growth * at)
    last = first + (growth * at * (tokens - 1) / 10 if of_tokens else 0.0)
    return SimpleNamespace(outcomes=tuple(
        SimpleNamespace(arrival=one, first_token=two, finished=three, output_tokens=int(count))
        for one, two, three, count in zip(at, first, last, tokens, strict=True)))


@pytest.mark.parametrize("of_tokens", [False, True])
class TestKeepsUp:
    @pytest.mark.parametrize(("growth", "bounded"), [
        (0.0, True), (0.0195, True), (0.0205, False), (1.0, False), (-1.0, True)])
    def test_what_grows_by_more_than_a_fiftieth_of_the_arrivals_has_no_bound(
            self, of_tokens, growth, bounded):
        assert keeps_up(waiting(growth, of_tokens)) is bounded

    def test_how_much_may_pile_up_can_be_told(self, of_tokens):
        assert keeps_up(waiting(0.29, of_tokens), 0.3)
        assert not keeps_up(waiting(0.31, of_tokens), 0.3)


def test_single_tokens_have_no_pace():
    run = SimpleNamespace(outcomes=tuple(
        SimpleNamespace(arrival=float(at), first_token=at + 1.0, finished=at + 1.0, output_tokens=1)
        for at in range(100)))
    assert keeps_up(run)
