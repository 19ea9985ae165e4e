"""Requests of many lengths in closed form, and how full the cache is, beside samples of them."""

import math
from itertools import product

import numpy as np
import pytest

import calc
import catalogue
from calc.answer.simulated import system_of
from calc.closed_form.evaluate import evaluate
from calc.physics.arrays import Inputs
from calc.physics.decode_floor import biased, context_deviation, mean_attended, mean_context
from calc.serving.arrivals import ClosedLoop, shapes_of
from calc.serving.simulation import simulate

PROMPT, ANSWER, DRAWS = 2000, 400, 100_000
DISTRIBUTIONS = [("exponential", 1.0), ("lognormal", 0.5), ("lognormal", 1.5)]


@pytest.fixture(scope="module")
def inputs():
    return catalogue.load_scenario("s2-910b1-awq").inputs()


def drawn(distribution, variation):
    """Prompts, answers, and the contexts of output tokens, each token as likely as any other."""
    shapes = np.array(shapes_of(PROMPT, ANSWER, distribution, variation))
    draw = np.random.default_rng(1)
    lengths = shapes[:, 1]
    of = draw.choice(len(lengths), DRAWS, p=lengths / lengths.sum())
    contexts = draw.choice(shapes[:, 0], DRAWS) + 1 + np.floor(draw.random(DRAWS) * lengths[of])
    return shapes[:, 0], lengths, contexts


class TestLengths:
    @pytest.mark.parametrize(("distribution", "variation"), DISTRIBUTIONS)
    def test_mean_context_and_an_upper_bound_with_a_limit(self, distribution, variation):
        _, answers, contexts = drawn(distribution, variation)
        spread = answers.std() / answers.mean()
        assert mean_context(PROMPT, biased(answers.mean(), spread)) == pytest.approx(
            contexts.mean(), rel=0.01)
        for limit in (128, 1000, 2048, 20_000):
            sampled = np.minimum(contexts, limit).mean()
            found = mean_attended(limit, PROMPT, biased(ANSWER, variation))
            assert sampled * 0.99 <= found <= sampled / (1 - math.exp(-1)) * 1.01
            if limit <= PROMPT / 10:  # a window is short
                assert found == pytest.approx(sampled, rel=0.05)

    def test_prompt_tokens_are_in_long_prompts(self, inputs):
        prompts, _, _ = drawn("exponential", 1.0)
        variation = prompts.std() / prompts.mean()
        sampled = (prompts * (prompts + 1) / 2).sum() / prompts.sum()
        found = evaluate(inputs | {"input_tokens": prompts.mean(), "prompt_variation": variation},
                         "mla")
        assert found["prefill_attended"] == pytest.approx(sampled, rel=1e-9)

    @pytest.mark.parametrize(("variation", "prompt"), [(0.0, PROMPT), (1.0, PROMPT), (0.3, 0),
                                                       (0.7, 0), (1.6, 0)])
    def test_contexts_deviate_as_sampled(self, variation, prompt):
        """Of gamma-distributed answers, at any moment of theirs, and prompts that vary as much."""
        draw = np.random.default_rng(2)
        answers = (np.full(DRAWS, float(ANSWER)) if not variation else
                   draw.gamma(variation**-2, ANSWER * variation**2, DRAWS))
        of = draw.choice(answers, DRAWS, p=answers / answers.sum())
        contexts = draw.random(DRAWS) * of + prompt * (
            1 + variation * draw.standard_normal(DRAWS))
        q = Inputs({"input_tokens": prompt, "output_tokens": ANSWER,
                    "prompt_variation": variation, "answer_variation": variation})
        assert context_deviation(q) == pytest.approx(contexts.std(), rel=0.03)


class TestOccupancy:
    def test_a_sum_of_independent_requests_overflows_as_often_as_drawn(self, inputs):
        """Gamma-distributed contexts of a number that is Poisson's."""
        found = evaluate(inputs | {"open_arrivals": 1, "prompt_variation": 1,
                                   "answer_variation": 1, "concurrency": np.arange(8, 240, 8)},
                         "mla")
        draw, room = np.random.default_rng(3), found["kv_blocks"] * inputs["block_size"]
        for at in np.flatnonzero((found["cache_overflow"] > 0.01)
                                 & (found["cache_overflow"] < 0.9)):
            mean = float(found["held_tokens"])
            shape = (mean / float(found["context_deviation"])) ** 2
            numbers = draw.poisson(found["holding_requests"][at], 20_000)
            held = draw.gamma(shape * np.maximum(numbers, 1e-9), mean / shape)
            assert found["cache_overflow"][at] == pytest.approx(
                (held > room[at]).mean(), abs=0.03)

    @pytest.mark.parametrize(("policy", "prompt", "answer", "users", "distribution"), [
        ("mixed", 300, 100, 12, "exponential"), ("mixed", 4000, 200, 8, "constant"),
        ("prefill-first", 1500, 80, 20, "exponential")])
    def test_the_cache_is_as_full_as_in_a_simulation(self, policy, prompt, answer, users,
                                                     distribution):
        scenario = catalogue.load_scenario("h200-r1-sglang-tp8", overrides=[
            f"workload.input_tokens={prompt} token", f"workload.output_tokens={answer} token",
            f"workload.context_tokens={prompt + answer} token",
            f"workload.concurrency={users}", f"workload.requests={users}"])
        given = scenario.inputs() | {"mixed_steps": float(policy == "mixed")}
        system = system_of(scenario, policy=policy)
        lengths = (sorted({shape[i] for shape in shapes_of(
            given["input_tokens"], given["output_tokens"], distribution)})[::10] for i in (0, 1))
        shapes = list(product(*lengths))  # every prompt with every answer: independent
        run = simulate(ClosedLoop(users, 1500, shapes, system.overhead, ramp=10.0),
                       system.pool).outcomes
        prompts, answers = (np.array([getattr(each, name) for each in run], dtype=float)
                            for name in ("input_tokens", "output_tokens"))
        found = evaluate(given | {
            "input_tokens": prompts.mean(), "output_tokens": answers.mean(),
            "prompt_variation": prompts.std() / prompts.mean(),
            "answer_variation": answers.std() / answers.mean()}, scenario.model.attention)
        assert found["holding_requests"] * found["decode_context_tokens"] == pytest.approx(
            held_on_average(run), rel=0.05)

def held_on_average(outcomes):
    """Tokens in the cache over the middle of a run: a prompt, then one more with each token."""
    ends = sorted(each.finished for each in outcomes)
    begin, end = (ends[int(share * len(ends))] for share in (0.05, 0.95))
    times = np.linspace(begin, end, 3000)
    held = np.zeros_like(times)
    for each in outcomes:
        here = (each.started <= times) & (times < each.finished)
        come = (times[here] - each.first_token) / max(each.finished - each.first_token, 1e-12)
        held[here] += each.input_tokens + np.clip(come, 0, 1) * each.output_tokens
    return held.mean()


@pytest.mark.parametrize(("settings", "suffices"), [
    (("length_distribution=exponential",), True), ((), False), (("arrivals=closed-loop",), True),
    (("length_distribution=exponential", "concurrency=2000 request", "requests=2000 request"),
     False)])
def test_a_cache_that_only_a_burst_overfills_suffices_steadily(settings, suffices):
    answer = calc.estimate(catalogue.load_scenario("s2-910b1-awq", overrides=[
        "workload.context_tokens=8000 token", *(f"workload.{setting}" for setting in settings)]))
    assert not answer.fits
    assert answer.suffices_steadily is suffices
