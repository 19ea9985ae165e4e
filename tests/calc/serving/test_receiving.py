"""When engines look for requests, what they answer between steps, what blocks texts share."""

import math

import numpy as np
import pytest
from _engines import POLICIES, limits

import catalogue
from calc.closed_form.evaluate import evaluate
from calc.serving.batching import Engine
from calc.serving.prefix_blocks import PrefixCache
from calc.serving.requests import Job, Step
from calc.serving.scheduling import Request, schedule

SERVER = "h200-r1-sglang-tp8"
# one request decodes all the time: a step of a prompt, then tokens, a second each
BUSY = Request(0.0, 10, 200)


def started(arrival: float, interval: int, ahead: int = 0) -> float:
    """When work on a prompt begins that arrives beside one request that decodes [s]."""
    engine = limits(policy="prefill-first", recv_interval=interval, steps_ahead=ahead)
    return schedule([BUSY, Request(arrival, 10, 1)], engine, lambda step: 1.0).outcomes[1].started


class TestLooks:
    @pytest.mark.parametrize("arrival", [0.5, 1.5, 4.5, 5.5, 8.5])
    def test_an_engine_that_looks_before_every_step_finds_it_before_the_next(self, arrival):
        assert started(arrival, 1) == math.ceil(arrival)

    @pytest.mark.parametrize(("arrival", "begin"), [(0.5, 1), (1.5, 5), (4.5, 5), (5.5, 9)])
    def test_it_is_looked_for_after_a_prompt_and_so_many_decode_steps_further(self, arrival, begin):
        assert started(arrival, 4) == begin

    @pytest.mark.parametrize(("arrival", "begin"), [(1.5, 3), (2.5, 4)])
    def test_a_step_that_is_already_decided_on_is_without_it(self, arrival, begin):
        assert started(arrival, 1, ahead=1) == begin

    def test_who_comes_during_the_last_step_before_a_look_ahead_waits_for_the_next_look(self):
        assert [started(arrival, 4, ahead=1) for arrival in (7.5, 8.5)] == [9, 13]

    def test_the_mean_wait_is_that_of_the_closed_form(self):
        arrivals = 1 + np.arange(0.5, 120)
        for interval in (1, 4, 10):
            waits = [started(float(time), interval) - time for time in arrivals]
            assert np.mean(waits) == pytest.approx((interval - 1) / 2 + 0.5)

    def test_an_engine_without_work_looks_all_the_time(self):
        engine = limits(recv_interval=30, steps_ahead=1)
        served = schedule([Request(0.0, 10, 1), Request(7.0, 10, 1)], engine, lambda step: 1.0)
        assert [outcome.wait for outcome in served.outcomes] == [0.0, 0.0]


@pytest.fixture(scope="module")
def inputs():
    given = {"concurrency": np.array([2.0, 16, 128]), "input_tokens": 1000.0,
             "output_tokens": 500.0, "context_tokens": 1500.0, "mixed_steps": 0.0}
    return catalogue.load_scenario(SERVER).inputs() | given


class TestClosedForm:
    def test_rarer_looks_delay_the_first_token_and_spare_the_others(self, inputs):
        found = [evaluate(inputs | {"scheduler_recv_interval": looks, "stream_interval": 1}, "mla")
                 for looks in (1, 10, 30)]
        for rarer, often in zip(found[1:], found[:-1], strict=True):
            assert (rarer["steady_ttft"] > often["steady_ttft"]).all()
            assert (rarer["steady_tpot"] <= often["steady_tpot"]).all()

    def test_a_piece_takes_as_long_as_its_tokens_and_delays_no_first_token(self, inputs):
        one, ten = (evaluate(inputs | {"stream_interval": pieces}, "mla") for pieces in (1, 10))
        for name in ("steady_ttft", "steady_tpot", "steady_e2e", "ttft", "tpot"):
            assert (one[name] == ten[name]).all()
        np.testing.assert_allclose(ten["stream_gap"], 10 * ten["steady_tpot"])

    def test_a_first_token_that_is_held_takes_its_wait_from_those_after_it(self, inputs):
        sent, held = (evaluate(inputs | {"stream_interval": 10, "first_token_held": flag}, "mla")
                      for flag in (0, 1))
        for ttft, e2e in (("steady_ttft", "steady_e2e"), ("ttft", "e2e")):
            assert (held[ttft] > sent[ttft]).all()
            np.testing.assert_allclose(held[e2e], sent[e2e])


class TestEngines:
    def test_a_deployment_states_it_and_else_its_engine_does(self):
        stated = catalogue.load_scenario(SERVER, overrides=[
            "workload.scheduler_recv_interval=30", "workload.stream_interval=10 token"]).inputs()
        usual = catalogue.load_scenario(SERVER).inputs()
        assert (stated["scheduler_recv_interval"], stated["stream_interval"]) == (30, 10)
        assert (usual["scheduler_recv_interval"], usual["stream_interval"]) == (1, 1)

    @pytest.mark.parametrize(("engine", "ahead"), [
        ("vllm@0.11.0", 0), ("vllm@0.16.0", 1), ("sglang@0.5.9", 1), ("tensorrt-llm@1.0.0", 1)])
    def test_overlapped_schedulers_decide_a_step_ahead(self, engine, ahead):
        scenario = catalogue.load_scenario(SERVER, overrides=[f"engine={engine}"])
        assert scenario.inputs()["steps_ahead"] == ahead


def engine(*requests, busy=(), steps=0, **more):
    """One that these requests were submitted to, and some more while it was busy."""
    made = Engine(limits(**more))
    for number, request in enumerate(requests):
        made.submit(Job(number, request))
    for number, request in enumerate(busy, len(requests)):
        made.submit(Job(number, request), busy=True)
    for at in range(steps):
        made.plan(float(at))
        made.complete(at + 1.0)
    return made


class TestFull:
    @pytest.mark.parametrize(("seqs", "running", "full"), [
        (1, 0, False), (1, 1, True), (2, 0, False), (2, 1, True), (3, 1, False), (3, 2, True),
        (4, 2, False)])
    def test_but_for_one_place(self, seqs, running, full):
        assert engine(*[Request(0.0, 9, 9)] * running, steps=1, seqs=seqs).full is full

    def test_all_who_are_not_finished_count_as_load(self):
        some = engine(*[Request(0.0, 9, 2)] * 3, busy=[Request(0.5, 9, 2)] * 2, steps=1, seqs=2,
                      recv_interval=3)
        assert (some.load, some.idle) == (5, False)
        assert (len(some.running), len(some.waiting), len(some.arrived)) == (2, 1, 2)

    def test_whom_it_has_not_looked_for_is_no_work(self):
        some = engine(busy=[Request(0.5, 9, 2)], steps_ahead=1)
        assert (some.load, some.idle, some.decodes) == (1, True, False)
        some.receive(idle=False)  # a step that was decided on is without it
        assert some.idle
        some.receive(idle=False)
        assert not some.idle
        assert Engine(limits()).idle

    def test_an_idle_engine_looks_for_all_at_once(self):
        some = engine(busy=[Request(0.5, 9, 2)] * 3, steps_ahead=4, recv_interval=9)
        some.receive(idle=True)
        assert (len(some.waiting), some.arrived) == (3, [])

    def test_without_an_interval_or_steps_ahead_nobody_is_missed(self):
        assert len(engine(busy=[Request(0.5, 9, 2)]).waiting) == 1
        assert len(engine(busy=[Request(0.5, 9, 2)], recv_interval=2).waiting) == 0


class TestMayPrefill:
    LONG = Request(0.0, 4, 3)

    @pytest.mark.parametrize("policy", POLICIES)
    def test_a_prompt_that_is_not_done_goes_on(self, policy):
        some = engine(Request(0.0, 250, 3), steps=1, policy=policy)
        assert some.can_prefill
        assert not some.decodes
        some = engine(self.LONG, steps=1, policy=policy)
        assert not some.can_prefill
        assert some.decodes

    @pytest.mark.parametrize(("prompt", "may"), [(5, True), (6, True), (7, False)])
    def test_mixed_lets_in_a_prompt_that_the_free_blocks_hold(self, prompt, may):
        """Of ten blocks four are taken."""
        some = engine(self.LONG, Request(0.0, prompt, 1), steps=1, kv_blocks=10, chunk=4)
        assert some.can_prefill is may

    @pytest.mark.parametrize("policy", POLICIES)
    def test_without_a_place_nobody_is_let_in(self, policy):
        for seqs in (1, 2):
            some = engine(self.LONG, self.LONG, steps=1, seqs=seqs, chunk=4, policy=policy)
            assert some.can_prefill is (seqs == 2)

    @pytest.mark.parametrize("policy", POLICIES)
    def test_who_comes_with_a_cache_has_no_prompt(self, policy):
        some = engine(policy=policy)
        some.submit(Job(0, self.LONG, prefilled=True))
        assert not some.can_prefill

    @pytest.mark.parametrize(("share", "blocks", "may"), [
        (0.4, 19, True), (0.6, 19, True), (0.7, 19, False), (0.7, 20, True), (1.0, 19, False),
        (0.4, 18, False), (0.0, 17, True), (0.0, 16, False)])
    def test_prefill_first_sets_aside_a_share_of_what_the_others_have_to_come(
            self, share, blocks, may):
        """Six blocks of a request with a token to feed and three to come; ten of the next one."""
        some = engine(Request(0.0, 6, 5), Request(0.0, 8, 3), steps=1, chunk=6,
                      policy="prefill-first", kv_blocks=blocks, reserved_output=share)
        assert some.can_prefill is may

    def test_nobody_is_admitted_where_others_have_no_place(self):
        for policy in POLICIES:
            some = engine(self.LONG, policy=policy)
            some.admits = False
            assert some.plan(0.0).prefill == ()
            some.admits = True
            some.complete(1.0)
            assert some.plan(1.0).prefill == ((4, 0),)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_step_without_prompts_leaves_them_as_they_are(policy):
    some = engine(Request(0.0, 4, 3), Request(0.0, 250, 3), steps=1, chunk=100, policy=policy)
    assert some.plan(1.0, prompts=False) == Step((), (5,))
    some.complete(2.0)
    left = some.plan(2.0)
    assert left.prefill == (((100, 96),) if policy == "prefill-first" else ((99, 96),))


class TestRepeats:
    """Steps that only repeat the one before: until somebody ends, or finds too few blocks."""

    def still(self, *requests, **more):
        return engine(*requests, steps=1, **more).still

    def test_until_the_shortest_answer_ends(self):
        assert self.still(Request(0.0, 4, 9), Request(0.0, 4, 6)) == 5
        assert self.still(Request(0.0, 4, 2)) == 1

    def test_a_cache_that_holds_all_of_them_is_not_asked(self):
        assert self.still(Request(0.0, 4, 9), kv_blocks=12) == 8

    def test_one_that_does_not_ends_them_with_the_blocks_at_hand(self):
        """Each needs 12 of 20 places at its end, in blocks of four, and holds one of them."""
        both = [Request(0.0, 3, 10)] * 2
        assert self.still(*both, kv_blocks=6, block_size=4) == 9
        assert self.still(*both, kv_blocks=5, block_size=4) == 1

    def test_who_waits_ends_them_where_prompts_go_first(self):
        some = [Request(0.0, 4, 9), Request(0.0, 4, 9)]
        assert self.still(*some, seqs=1) == 8
        assert self.still(*some, seqs=1, policy="prefill-first") == 0


class TestBlocks:
    """A text of three blocks and one that goes on for two, block by block."""

    SPANS = (("a", 0, 3), ("b", 3, 5))

    def test_what_is_held_is_shared_and_found(self):
        cache = PrefixCache()
        assert cache.find(self.SPANS, 9) == (0, 0)
        assert cache.hold(self.SPANS, 0, 4) == 0
        assert (cache.in_use, cache.idle) == (4, 0)
        assert [cache.find(self.SPANS, most) for most in (0, 2, 3, 9)] == [
            (0, 0), (2, 2), (3, 3), (4, 4)]
        assert cache.find((("c", 0, 3), ("b", 3, 5)), 9) == (0, 0)
        assert cache.hold(self.SPANS, 0, 5) == 4
        assert (cache.in_use, cache.drop(self.SPANS, 5)) == (5, 4)
        assert (cache.in_use, cache.idle) == (4, 1)
        assert cache.find(self.SPANS, 9) == (5, 4)

    def test_the_end_is_forgotten_before_the_beginning(self):
        cache = PrefixCache()
        cache.hold(self.SPANS, 0, 5)
        assert cache.drop(self.SPANS, 5) == 0
        left = []
        for count in (1, 1, 2, 1):
            left.append(cache.find(self.SPANS, 9))
            cache.evict(count)
        assert left == [(5, 0), (4, 0), (3, 0), (1, 0)]
        assert (cache.find(self.SPANS, 9), cache.idle) == ((0, 0), 0)

    def test_who_takes_kept_blocks_again_has_them(self):
        cache = PrefixCache()
        cache.hold(self.SPANS, 0, 5)
        cache.drop(self.SPANS, 5)
        assert cache.hold(self.SPANS, 0, 2) == 0
        assert (cache.in_use, cache.idle, cache.find(self.SPANS, 9)) == (2, 3, (5, 2))
        assert cache.hold(self.SPANS, 2, 4) == 0
        assert (cache.in_use, cache.idle) == (4, 1)
        assert cache.drop(self.SPANS, 4) == 0

    def test_the_least_recently_used_text_goes_first(self):
        cache = PrefixCache()
        texts = [((name, 0, 2),) for name in "abc"]
        for text in texts:
            cache.hold(text, 0, 2)
        for text in (texts[1], texts[2], texts[0]):
            cache.drop(text, 2)
        cache.evict(3)
        assert [cache.find(text, 9) for text in texts] == [(2, 0), (0, 0), (1, 0)]
