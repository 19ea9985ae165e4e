"""The clock of steps: what it remembers changes nothing, whatever is asked first, at any edge."""

from types import SimpleNamespace

import numpy as np
import pytest

import catalogue
from calc.physics.arrays import ceil_div
from calc.serving.requests import Contexts, Step
from calc.serving.step_times import Clock, Paced, ranks_in_step

ALONE, DRAFTS, RANKS = "h200-r1-vllm-tp8", "h200-r1-sglang-mtp", "a3-glm51-vllm-tp4"


def clock(name, drafting=False, expected=(), **changed):
    scenario = catalogue.load_scenario(name)
    return Clock(scenario.inputs() | changed, scenario.model.attention, drafting, expected)


@pytest.fixture(scope="module")
def plain():
    return clock(ALONE)


class TestAnswers:
    @pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 64, 65])
    @pytest.mark.parametrize("blocks", [1, 7, 8, 9, 16, 17, 300])
    def test_a_step_takes_what_its_own_requests_take(self, plain, count, blocks):
        """Of contexts in blocks of sixteen tokens, each about its mean."""
        alone = plain._timed(plain._answers(float(count), 16.0 * blocks))
        found = clock(ALONE)(Step((), (16 * blocks,) * count))
        assert found == pytest.approx(float(
            alone.step_time - plain.inputs["host_gap_per_step"]), rel=1e-12)
        assert plain(Step((), Contexts((16 * blocks,) * count))) == found

    @pytest.mark.parametrize(("contexts", "blocks"), [
        ((1,), 1), ((16,), 1), ((17,), 2), ((16, 16), 1), ((15, 17), 1), ((16, 17), 2),
        ((1, 63), 2), ((1, 64), 3)])
    def test_mean_contexts_are_rounded_up(self, plain, contexts, blocks):
        assert plain._rounded(Step((), contexts)) == (len(contexts), blocks)
        assert plain._rounded(Step((), Contexts(contexts))) == (len(contexts), blocks)
        assert plain(Step((), contexts)) == plain(Step((), (16 * blocks,) * len(contexts)))

    def test_no_request_takes_no_time(self, plain):
        assert plain(Step((), ())) == 0.0

    @pytest.mark.parametrize("drafts", [1.0, 3.0])
    def test_drafting_takes_its_passes_besides(self, drafts):
        given = {"draft_tokens": drafts}
        without, drafting = (clock(DRAFTS, on, **given) for on in (False, True))
        timed = without._timed(without._answers(5.0, 1600.0))
        passes = float(ceil_div(drafts, without.inputs["draft_block"]))
        step = Step((), (1600,) * 5)
        assert drafting(step) - without(step) == pytest.approx(
            passes * float(np.ravel(timed.draft_pass_time)[0]), rel=1e-6)


class TestPrompts:
    PROMPTS = ((1000, 0), (300, 64))

    @pytest.mark.parametrize("name", [ALONE, RANKS])
    @pytest.mark.parametrize("beside", [0, 1, 7, 8, 9, 16])
    def test_expected_prompts_take_what_others_take(self, name, beside):
        known, fresh = clock(name, expected=self.PROMPTS * 2), clock(name)
        for prompt in self.PROMPTS:
            step = Step((prompt,), (700,) * beside)
            assert known(step) == pytest.approx(fresh(step), rel=1e-12)
            assert known.together([step]) == pytest.approx(fresh.together([step]), rel=1e-12)
        other = Step(((1000, 64),), (700,) * beside)
        assert known(other) == pytest.approx(fresh(other), rel=1e-12)

    def test_what_was_asked_before_does_not_matter(self):
        steps = [Step(prompts, (500,) * beside) for prompts in (((90, 5),), ((90, 5), (40, 0)))
                 for beside in (0, 3, 4)] + [Step((), (500,) * count) for count in (3, 33)]
        one, other = clock(RANKS), clock(RANKS)
        forwards = [(one(step), one.together([step, step])) for step in steps]
        backwards = [(other(step), other.together([step, step])) for step in reversed(steps)]
        assert forwards == backwards[::-1]
        assert len({time for time, _ in forwards}) == len(steps)


@pytest.mark.parametrize("drafting", [False, True])
@pytest.mark.parametrize("step", [
    Step((), (1500,) * 24), Step(((700, 64), (80, 0)), (900,) * 5), Step(((2048, 0),), ())])
def test_equal_ranks_that_draft_take_what_one_of_them_takes(drafting, step):
    timed = clock(RANKS, drafting)
    ranks = ranks_in_step(timed.inputs)
    assert ranks > 1
    assert timed.together([step] * ranks) == pytest.approx(timed(step), rel=1e-9)


class TestPaced:
    """A step of answers yields 1.5 tokens, and the host takes half a second before each."""

    CLOCK = SimpleNamespace(together=lambda steps: 4.0 * len(steps), coming=lambda steps, count: [
        float(at) for at in range(count)])
    PROMPT, ANSWER = Step(((5, 0),), (7,)), Step((), (7,))

    def test_a_token_takes_its_share_of_a_step_of_answers(self):
        one = Paced(lambda step: 4.0, 0.5, 1.5)
        assert (one(self.PROMPT), one(self.ANSWER)) == (4.5, 3.0)
        several = Paced(self.CLOCK, 0.5, 1.5)
        assert several.together([self.PROMPT, self.ANSWER]) == 8.5
        assert several.together([self.ANSWER] * 2) == pytest.approx(8.5 / 1.5)
        assert several.coming([self.ANSWER], 3) == pytest.approx([0.5 / 1.5, 1.0, 2.5 / 1.5])
