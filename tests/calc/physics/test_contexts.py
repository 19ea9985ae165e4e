"""Contexts of requests of many lengths that decode, beside samples of them."""

import math

import numpy as np
import pytest

from calc.physics.arrays import Inputs
from calc.physics.decode_floor import biased, context_deviation, mean_attended, mean_context
from calc.serving.arrivals import shapes_of

PROMPT, ANSWER, DRAWS = 2000, 400, 100_000
DISTRIBUTIONS = [("exponential", 1.0), ("lognormal", 0.5), ("lognormal", 1.5)]


def drawn(distribution, variation):
    """Answers, and the contexts of output tokens, each token as likely as any other."""
    shapes = np.array(shapes_of(PROMPT, ANSWER, distribution, variation))
    draw = np.random.default_rng(1)
    lengths = shapes[:, 1]
    of = draw.choice(len(lengths), DRAWS, p=lengths / lengths.sum())
    contexts = draw.choice(shapes[:, 0], DRAWS) + 1 + np.floor(draw.random(DRAWS) * lengths[of])
    return lengths, contexts


class TestLengths:
    @pytest.mark.parametrize(("distribution", "variation"), DISTRIBUTIONS)
    def test_mean_context_and_an_upper_bound_with_a_limit(self, distribution, variation):
        answers, contexts = drawn(distribution, variation)
        spread = answers.std() / answers.mean()
        assert mean_context(PROMPT, biased(answers.mean(), spread)) == pytest.approx(
            contexts.mean(), rel=0.01)
        for limit in (128, 1000, 2048, 20_000):
            sampled = np.minimum(contexts, limit).mean()
            found = mean_attended(limit, PROMPT, biased(ANSWER, variation))
            assert sampled * 0.99 <= found <= sampled / (1 - math.exp(-1)) * 1.01
            if limit <= PROMPT / 10:  # a window is short
                assert found == pytest.approx(sampled, rel=0.05)

    @pytest.mark.parametrize(("variation", "prompt"), [(0.0, PROMPT), (1.0, PROMPT), (0.3, 0),
                                                       (0.7, 0), (1.6, 0)])
    def test_contexts_deviate_as_sampled(self, variation, prompt):
        """Of gamma-distributed answers, at any moment of theirs, and prompts that vary as much."""
        draw = np.random.default_rng(2)
        answers = (np.full(DRAWS, float(ANSWER)) if not variation else
                   draw.gamma(variation**-2, ANSWER * variation**2, DRAWS))
        of = draw.choice(answers, DRAWS, p=answers / answers.sum())
        contexts = draw.random(DRAWS) * of + prompt * (1 + variation * draw.standard_normal(DRAWS))
        q = Inputs({"input_tokens": prompt, "output_tokens": ANSWER,
                    "prompt_variation": variation, "answer_variation": variation})
        assert context_deviation(q) == pytest.approx(contexts.std(), rel=0.03)
