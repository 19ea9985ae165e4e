"""What an engine answers between its steps: how full, whom it lets in, whom it looks for."""

import pytest
from _engines import POLICIES, limits

from calc.serving.batching import Engine
from calc.serving.requests import Job, Request, Step


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
