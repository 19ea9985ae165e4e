"""Steps with prompts: how many prompts meet, how long their chunks are, and what they take."""

import numpy as np
import pytest

from calc.closed_form.bunches import largest_of, soft_minimum


class TestBatches:
    @pytest.mark.parametrize("power", [1, 2, 3])
    def test_few_prompts_never_meet(self, power):
        few, more = (8.0**-4 * share for share in (0.99, 1.01))
        assert soft_minimum(few ** (1 / power), power) ** power == pytest.approx(few, rel=1e-12)
        assert soft_minimum(more ** (1 / power), power) ** power == pytest.approx(
            1 - np.exp(-more), rel=1e-9)
        assert soft_minimum(np.log(4) ** (1 / power), power) == pytest.approx(0.75 ** (1 / power))
        assert soft_minimum(-1.0, 2) == soft_minimum(0.0, 1) == 0

    @pytest.mark.parametrize("variance", [0.04, 0.25])
    def test_the_largest_of_several_loads(self, variance):
        spread = np.log1p(variance) ** 0.5
        draw = np.random.default_rng(4).standard_normal((40_000, 16))
        loads = np.exp(spread * draw - spread**2 / 2)
        assert largest_of(1, variance) == pytest.approx(1, abs=3e-3)
        for number in (2, 4, 16):
            assert largest_of(number, variance) == pytest.approx(
                loads[:, :number].max(axis=1).mean(), rel=0.05)
        assert largest_of(16, 0.0) == 1
