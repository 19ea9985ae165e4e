"""Random prompts on ranks in lockstep: runs of steps with prompts, and decoding among them."""

from dataclasses import replace

import numpy as np
import pytest

from calc.closed_form.overlaps import LEAST, MOST, Among, decoding_among, overlapping, product_log


def runs_of(overlap, chunks, count=4000):
    """Sampled lengths of runs of steps with prompts.

    A run ends after as many steps without an arrival as a prompt has chunks.
    """
    draw, lengths = np.random.default_rng(3), []
    for _ in range(count):
        steps = quiet = 0
        while quiet < chunks:
            steps += 1
            quiet = 0 if draw.random() > np.exp(-overlap / chunks) else quiet + 1
        lengths.append(steps)
    return np.array(lengths)


class TestOverlaps:
    @pytest.mark.parametrize("value", [1e-6, 0.1, 0.5, 1.0, 2.0, 4.0])
    def test_lambert_s_w_and_the_runs_that_it_describes(self, value):
        """e prompts at random for a decode step: a step without any ends the run of N."""
        assert product_log(value * np.exp(value)) == pytest.approx(value, rel=0.02)
        steps = np.exp(product_log(value))
        drawn = np.random.default_rng(1).poisson(value / steps, 100_000)
        assert np.mean(drawn == 0) == pytest.approx(1 / steps, rel=0.06)

    AMONG = Among(own=4.0, first=1.0, load=2.5, chunks=2.0, begun=0.3, rest=0.25, pausing=0.0)

    def test_prompts_in_work_bring_as_much_as_the_load(self):
        """ρ (τ_1 + τ_D(ρ)) is the load of all others; each guess is nearer than the one before."""
        missed = [abs(rho * (1.0 + decoding_among(self.AMONG, rho)) / 2.5 - 1)
                  for rho in overlapping(self.AMONG)]
        assert missed == sorted(missed, reverse=True)
        assert missed[-1] < 1e-3

    def test_decoding_alone_and_among_ever_more_prompts(self):
        times = [float(decoding_among(self.AMONG, rho)) for rho in (1e-9, 0.5, 1.0, 2.0, 16.0)]
        assert times[0] == pytest.approx(4.0)
        assert times == sorted(times)
        # beyond, every step has a prompt, and takes four times as long; what began is over first
        assert times[-1] == pytest.approx(4.0 / 0.25, rel=1e-3)

    @pytest.mark.parametrize(("overlap", "chunks"), [(0.1, 1), (1.0, 1), (0.5, 3), (2.0, 4)])
    @pytest.mark.parametrize("rest", [0.05, 0.5])
    def test_decoding_through_runs_of_long_steps(self, overlap, chunks, rest):
        """Runs alternate with the time until the next arrival, chunks/ρ long steps.

        A step yields one token, whether it is a long one or a decode step.
        """
        runs = runs_of(overlap, chunks).mean()
        idle = chunks / overlap
        tokens = runs + idle / rest  # of a run and the time after it
        alone = replace(self.AMONG, own=1.0, chunks=chunks, begun=0.0, rest=rest)
        # steps with prompts of the same rank yield no token, at most all long steps
        for pausing in (0.0, 0.01, 1.0):
            lost = min(pausing, runs / tokens)
            assert decoding_among(replace(alone, pausing=pausing), overlap) == pytest.approx(
                (runs + idle) / (tokens * rest) / (1 - lost), rel=0.03)

    def test_prompts_in_work_when_decoding_begins(self):
        """A short answer is slow throughout, a long one until the run ends."""
        busy = np.e / (np.e + 1)  # one prompt in work: runs of e steps, then one without
        left = 1 - 0.75 * busy
        for own, slow in ((1e-6, 1e-6 / 0.25), (1e6, 3.0 / left)):
            among = replace(self.AMONG, own=own, chunks=1.0, begun=3.0)
            longer = decoding_among(among, 1.0) - own / left
            assert longer == pytest.approx(busy * slow * (1 - 0.25 / left), rel=1e-3)

    def test_balance_of_random_loads(self):
        """ρ (τ_1 + τ_D(ρ)) is the load within 3%, below the bound of 16 in work."""
        draw = np.random.default_rng(1)
        among = Among(*(draw.uniform(low, high, 1000) for low, high in (
            (0.5, 20), (0.1, 3), (0.01, 30), (1, 5), (0, 1), (0.05, 1), (0, 0.3))))
        enough = overlapping(among)[-1]
        met = enough * (among.first + decoding_among(among, enough)) / among.load
        assert np.abs(met[enough < MOST] - 1).max() < 0.03
        assert (enough < MOST).sum() > 500
        assert (met[enough == MOST] < 1.03).all()

    def test_monotone_in_load_and_bounded(self):
        loads = np.geomspace(1e-12, 1e6, 200)
        *_, enough = overlapping(replace(self.AMONG, load=loads))
        assert (np.diff(enough) >= 0).all()
        assert enough[0] == pytest.approx(LEAST)
        assert enough[-1] == MOST
        few = (loads > 1e-6) & (loads < 1e-4)  # load divided by the stay of a lone request
        assert enough[few] == pytest.approx(loads[few] / (1.0 + 4.0), rel=1e-3)
