"""Requests of many lengths in closed form: what sampling and a simulation of the same give."""

import json
import math
from itertools import product

import numpy as np
import pytest

import calc
import catalogue
from calc.answer.simulated import system_of
from calc.closed_form.evaluate import evaluate
from calc.closed_form.occupancy import normal_tail
from calc.physics.decode_floor import biased, context_deviation, mean_attended, mean_context
from calc.serving.arrivals import ClosedLoop, shapes_of
from calc.serving.simulation import simulate

PROMPT, ANSWER = 2000, 400
DRAWS = 200_000
DISTRIBUTIONS = [("exponential", 1.0), ("lognormal", 0.5), ("lognormal", 1.5)]


@pytest.fixture(scope="module")
def inputs():
    return catalogue.load_scenario("s2-910b1-awq").inputs()


def drawn(distribution, variation, prompt=PROMPT, answer=ANSWER):
    """Prompts, answers, and the contexts of output tokens, each token as likely as any other."""
    shapes = np.array(shapes_of(prompt, answer, distribution, variation))
    draw = np.random.default_rng(1)
    lengths = shapes[:, 1]
    of = draw.choice(len(lengths), DRAWS, p=lengths / lengths.sum())
    contexts = draw.choice(shapes[:, 0], DRAWS) + 1 + np.floor(draw.random(DRAWS) * lengths[of])
    return shapes[:, 0], lengths, contexts


class TestMeans:
    @pytest.mark.parametrize(("distribution", "variation"), DISTRIBUTIONS)
    def test_the_mean_context_is_that_of_the_tokens(self, distribution, variation):
        _, answers, contexts = drawn(distribution, variation)
        spread = answers.std() / answers.mean()
        assert mean_context(PROMPT, biased(answers.mean(), spread)) == pytest.approx(
            contexts.mean(), rel=0.01)

    def test_lengths_listed_by_hand(self):
        answers = np.array([3, 1, 8, 4])
        seen = [10 + i for n in answers for i in range(1, n + 1)]
        long = biased(answers.mean(), answers.std() / answers.mean())
        assert mean_context(10, long) == pytest.approx(np.mean(seen), rel=1e-12)

    @pytest.mark.parametrize(("distribution", "variation"), DISTRIBUTIONS)
    @pytest.mark.parametrize("limit", [128, 1000, 2048, 20_000])
    def test_with_a_limit_it_is_an_upper_bound(self, distribution, variation, limit):
        _, _, contexts = drawn(distribution, variation)
        sampled = np.minimum(contexts, limit).mean()
        found = mean_attended(limit, PROMPT, biased(ANSWER, variation))
        assert sampled * 0.99 <= found <= sampled / (1 - math.exp(-1)) * 1.01
        if limit <= PROMPT / 10:  # a window is short
            assert found == pytest.approx(sampled, rel=0.05)

    def test_prompt_tokens_are_in_long_prompts(self, inputs):
        prompts, _, _ = drawn("exponential", 1.0)
        variation = prompts.std() / prompts.mean()
        by_hand = (prompts * (prompts + 1) / 2).sum() / prompts.sum()
        found = evaluate(inputs | {"input_tokens": prompts.mean(), "prompt_variation": variation},
                         "mla")
        assert found["prefill_attended"] == pytest.approx(by_hand, rel=1e-9)

    @pytest.mark.parametrize("name", ["s2-910b1-awq", "h200-v32-vllm-dp8"])
    def test_equal_lengths_are_their_limit(self, name):
        """Of the longest of several prompts the first order is their deviation itself."""
        scenario, little = catalogue.load_scenario(name), 1e-7
        alike, nearly = (evaluate(scenario.inputs() | {
            "prompt_variation": value, "answer_variation": value}, scenario.model.attention)
            for value in (0, little))
        for quantity in ("steady_tpot", "ttft", "cache_occupied", "cache_deviation"):
            assert nearly[quantity] == pytest.approx(alike[quantity], rel=little)

    def test_more_variation_is_never_faster(self, inputs):
        varied = evaluate(inputs | {"answer_variation": np.linspace(0, 2, 9)}, "mla")
        for name in ("tpot", "tpot_floor", "steady_tpot", "cache_occupied", "cache_deviation"):
            assert (np.diff(varied[name]) > 0).all()


class TestDeviation:
    @pytest.mark.parametrize(("distribution", "variation"), [("constant", 0.0),
                                                             ("exponential", 1.0)])
    def test_contexts_deviate_as_sampled(self, inputs, distribution, variation):
        _, _, contexts = drawn(distribution, variation or 1.0)
        found = evaluate(inputs | {
            "input_tokens": PROMPT, "output_tokens": ANSWER, "prompt_variation": variation,
            "answer_variation": variation}, "mla")["context_deviation"]
        assert found == pytest.approx(contexts.std(), rel=0.02)

    def test_gamma_distributed_answers(self):
        draw = np.random.default_rng(2)
        for variation in (0.3, 0.7, 1.6):
            answers = draw.gamma(variation**-2, ANSWER * variation**2, DRAWS)
            of = draw.choice(answers, DRAWS, p=answers / answers.sum())
            begun = draw.random(DRAWS) * of
            found = context_deviation(type("Inputs", (), {
                "input_tokens": 0, "output_tokens": ANSWER, "prompt_variation": 0,
                "answer_variation": variation}))
            assert found == pytest.approx(begun.std(), rel=0.03)

    def test_more_unequal_ranks_wait_longer(self):
        scenario = catalogue.load_scenario("h200-v32-vllm-dp8")
        found = evaluate(scenario.inputs() | {"kv_imbalance": 1, "prompt_variation": np.linspace(
            0, 2, 5)}, scenario.model.attention)
        assert (np.diff(found["fullest_cache"]) > 0).all()


class TestOccupancy:
    def test_the_tail_is_that_of_the_normal_distribution(self):
        z = np.linspace(-7, 7, 2801)
        exact = [math.erfc(each / math.sqrt(2)) / 2 for each in z]
        assert np.abs(normal_tail(z) - exact).max() < 1.5e-4
        assert (np.diff(normal_tail(z)) <= 0).all()
        assert normal_tail(np.float64(0)) == 0.5

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

    @pytest.mark.parametrize(("policy", "prompt", "answer", "users"), [
        ("mixed", 300, 100, 12), ("mixed", 4000, 200, 8), ("prefill-first", 1500, 80, 20)])
    @pytest.mark.parametrize("distribution", ["constant", "exponential"])
    def test_the_cache_is_as_full_as_a_simulation_has_it(self, policy, prompt, answer, users,
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
        run = simulate(ClosedLoop(users, 2000, shapes, system.overhead, ramp=10.0),
                       system.pool).outcomes
        prompts, answers = (np.array([getattr(each, name) for each in run], dtype=float)
                            for name in ("input_tokens", "output_tokens"))
        found = evaluate(given | {
            "input_tokens": prompts.mean(), "output_tokens": answers.mean(),
            "prompt_variation": prompts.std() / prompts.mean(),
            "answer_variation": answers.std() / answers.mean()}, scenario.model.attention)
        ours = found["holding_requests"] * found["decode_context_tokens"]
        assert ours == pytest.approx(held_on_average(run), rel=0.05)

    def test_shares_of_steps(self, inputs):
        counts = np.arange(1, 400)
        found = evaluate(inputs | {"concurrency": counts}, "mla")
        assert (np.diff(found["cache_overflow"]) >= -1e-12).all()
        assert found["cache_overflow"][0] < 1e-9 < 0.99 < found["cache_overflow"][-1]
        assert (found["holding_requests"] <= counts).all()
        np.testing.assert_allclose(found["cache_occupied"] * found["kv_blocks"] * inputs[
            "block_size"], found["holding_requests"] * found["held_tokens"])


def held_on_average(outcomes):
    """Tokens in the cache over the middle of a run: a prompt, then one more with each token."""
    ends = sorted(each.finished for each in outcomes)
    begin, end = (ends[int(share * len(ends))] for share in (0.05, 0.95))
    times = np.linspace(begin, end, 5000)
    held = np.zeros_like(times)
    for each in outcomes:
        here = (each.started <= times) & (times < each.finished)
        come = (times[here] - each.first_token) / max(each.finished - each.first_token, 1e-12)
        held[here] += each.input_tokens + np.clip(come, 0, 1) * each.output_tokens
    return held.mean()


class TestEstimate:
    def answer(self, *settings):
        return calc.estimate(catalogue.load_scenario("s2-910b1-awq", overrides=[
            f"workload.{setting}" for setting in settings]))

    def test_the_stated_distribution_is_the_variation(self):
        for settings, expected in (((), 0), (("length_distribution=exponential",), 1), (
                ("length_distribution=lognormal", "length_variation=0.7"), 0.7)):
            found = catalogue.load_scenario("s2-910b1-awq", overrides=[
                f"workload.{setting}" for setting in settings]).inputs()
            assert found["prompt_variation"] == found["answer_variation"] == expected

    def test_a_longest_context_alone_varies_by_nothing(self):
        found = catalogue.load_scenario("s0-scenario-1", overrides=[
            "workload.length_distribution=exponential"]).inputs()
        assert found["prompt_variation"] == found["answer_variation"] == 0

    def test_what_only_a_burst_overfills_is_told(self):
        long = ("context_tokens=8000 token", "length_distribution=exponential")
        found = self.answer(*long)
        assert not found.fits
        assert found.suffices_steadily
        assert 0 < found.lasting.cache["cache_occupied"] < 1
        assert not self.answer("context_tokens=8000 token").suffices_steadily  # a burst of equals
        assert self.answer("context_tokens=8000 token", "arrivals=closed-loop").suffices_steadily
        assert not self.answer(*long, "concurrency=2000 request",
                               "requests=2000 request").suffices_steadily

    def test_fewer_in_flight_take_less(self):
        thinking = self.answer("arrivals=closed-loop", "think_time=60 s").lasting.cache
        assert thinking["cache_occupied"] < self.answer().lasting.cache["cache_occupied"]


class TestCommand:
    LISTED = "input_tokens,output_tokens\n100,50\n3000,700\n\n500,20\n"

    def test_lengths_of_a_file(self, cli, tmp_path):
        file = tmp_path / "lengths.csv"
        file.write_text(self.LISTED, encoding="utf-8")
        code, out, _ = cli("estimate", "s2-910b1-awq", "--lengths", str(file), "--json")
        assert code == 0
        scenario = catalogue.load_scenario("s2-910b1-awq", overrides=[
            "workload.input_tokens=1200 token", "workload.output_tokens=257 token",
            "workload.context_tokens=3700 token"])
        prompts, answers = np.array([100, 3000, 500]), np.array([50, 700, 20])
        varied = scenario.inputs() | {"prompt_variation": prompts.std() / prompts.mean(),
                                      "answer_variation": answers.std() / answers.mean()}
        found = json.loads(out)
        assert found["quantities"]["steady_tpot"]["central"] == pytest.approx(
            float(evaluate(varied, "mla")["steady_tpot"]))
        assert found["arrivals"]["cache_occupied"] == pytest.approx(
            float(evaluate(varied, "mla")["cache_occupied"]))

    def test_the_verdict_says_what_it_charges_and_how_full_the_cache_is(self, cli):
        asked = ("estimate", "s2-910b1-awq", "--lengths", "exponential", "--set",
                 "workload.context_tokens=8000 token")
        out = " ".join(cli(*asked)[1].split())
        assert "short, every request at its longest (8,000 tokens)." in out
        assert "Cache in the steady state: requests take" in out
        assert "What is short is room for all requests at their longest at once" in out

    @pytest.mark.parametrize("line", ["-5,3", "5", "5,x", "0,3"])
    def test_a_line_that_is_no_request_is_told(self, cli, tmp_path, line):
        file = tmp_path / "lengths.csv"
        file.write_text(f"100,50\n{line}\n", encoding="utf-8")
        code, _, err = cli("estimate", "s2-910b1-awq", "--lengths", str(file))
        assert code != 0
        assert err.count("\n") == 1
        assert f"lengths.csv:2: '{line}' is no request" in err
        code, _, err = cli("estimate", "s2-910b1-awq", "--lengths", str(tmp_path / "none.csv"))
        assert (code != 0, err.count("\n")) == (True, 1)
